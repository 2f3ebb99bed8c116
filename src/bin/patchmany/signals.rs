//! Signals: the first asks the run to stop and undo, a third ends the process; the journal covers that.

use patchmany::transaction::Stop;
use std::sync::Arc;

/// So many signals end the process at once. Not the second: undoing takes milliseconds, and impatient people press the
/// keys twice.
#[cfg(unix)]
const INSISTENT: usize = 3;

/// Starts listening. The value holds the number of the first signal that came.
#[cfg(unix)]
pub(crate) fn listen() -> Arc<Stop> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use std::sync::atomic::{AtomicBool, Ordering};
    let stop = Arc::new(Stop::new(0));
    // A file that grows over the limit shall be an error, not the end.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    // Where no handler can be had, signals keep their usual effect, and the journal covers it.
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) {
        let flag = Arc::clone(&stop);
        std::thread::spawn(move || {
            for (signal, count) in signals.forever().zip(1..) {
                let _ = flag.compare_exchange(
                    0,
                    signal.unsigned_abs() as usize,
                    Ordering::SeqCst,
                    Ordering::SeqCst,
                );
                if count >= INSISTENT {
                    signal_hook::low_level::exit(128 + signal);
                }
            }
        });
    }
    stop
}

/// Elsewhere the system ends the process, and the next run recovers.
#[cfg(not(unix))]
pub(crate) fn listen() -> Arc<Stop> {
    Arc::new(Stop::new(0))
}
