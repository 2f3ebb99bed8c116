//! Signals and limits of the process: the first signal asks the run to stop and undo, a third ends the process; the
//! journal covers that. Limits are raised as far as the system lets anybody.

use patchmany::transaction::Stop;
use std::sync::Arc;

/// So many signals end the process at once. Not the second: undoing takes milliseconds, and impatient people press the
/// keys twice.
#[cfg(unix)]
const INSISTENT: usize = 3;

/// So many open files are enough: 256 folders are kept open, and each thread has a few files.
#[cfg(unix)]
const OPEN_FILES: u64 = 4096;

/// What every command needs of the process: a full disk quota is an error, and there is room for open folders.
#[cfg(unix)]
pub(crate) fn prepare() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    use std::sync::atomic::AtomicBool;
    // A file that grows over the limit shall be an error, not the end.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
    if limit.current.is_some_and(|now| now < wanted) {
        // Where it cannot be raised, the usual limit does for all but the widest batches.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}

#[cfg(not(unix))]
pub(crate) fn prepare() {}

/// Starts listening. The value holds the number of the first signal that came.
#[cfg(unix)]
pub(crate) fn listen() -> Arc<Stop> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use std::sync::atomic::Ordering;
    let stop = Arc::new(Stop::new(0));
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
