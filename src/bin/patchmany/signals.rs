//! Signals: the first asks the run to stop and undo, the second ends the process; the journal covers that.

use patchmany::transaction::Stop;
use std::sync::Arc;

/// Starts listening. The value holds the number of the signal that came.
#[cfg(unix)]
pub(crate) fn listen() -> Arc<Stop> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::flag;
    use std::sync::atomic::AtomicBool;
    let stop = Arc::new(Stop::new(0));
    let armed = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // Cannot fail for these signals; if it does, the signal keeps its usual effect, which the journal covers too.
        let _ = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&armed));
        let _ = flag::register(signal, Arc::clone(&armed));
        let _ = flag::register_usize(signal, Arc::clone(&stop), usize::try_from(signal).unwrap_or(2));
    }
    // A file that grows over the limit shall be an error, not the end.
    let _ = flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    stop
}

/// Elsewhere the system ends the process, and the next run recovers.
#[cfg(not(unix))]
pub(crate) fn listen() -> Arc<Stop> {
    Arc::new(Stop::new(0))
}
