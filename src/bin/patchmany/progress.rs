//! A progress bar on standard error: on a terminal only, and only when a batch takes a while.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use patchmany::apply::Progress;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a run may take before a bar appears.
const PATIENCE: Duration = Duration::from_millis(300);

/// The bar, which may never appear.
pub(crate) struct Bar {
    wanted: bool,
    begun: Instant,
    bar: ProgressBar,
    shown: OnceLock<()>,
}

impl Bar {
    pub(crate) fn new(wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:32} {pos}/{len} files {elapsed}") {
            bar.set_style(style);
        }
        Self { wanted, begun: Instant::now(), bar, shown: OnceLock::new() }
    }

    /// Takes the bar away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

impl Progress for Bar {
    fn total(&self, entries: usize) {
        self.bar.set_length(entries as u64);
    }

    fn step(&self) {
        if self.wanted && self.begun.elapsed() > PATIENCE {
            self.shown.get_or_init(|| self.bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
        self.bar.inc(1);
    }
}
