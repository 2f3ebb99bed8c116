//! Counts what a test has tried, and shows the first cases that went wrong.

use std::collections::HashSet;
use std::time::Instant;

/// How many bad cases are shown in full.
const SHOWN: usize = 4;

pub(super) struct Tally {
    test: &'static str,
    case: String,
    begun: Instant,
    seen: HashSet<u64>,
    pub runs: usize,
    pub different: usize,
    pub bad: usize,
    shown: Vec<String>,
}

impl Tally {
    pub(super) fn new(test: &'static str, case: impl Into<String>) -> Self {
        Self {
            test,
            case: case.into(),
            begun: Instant::now(),
            seen: HashSet::new(),
            runs: 0,
            different: 0,
            bad: 0,
            shown: Vec::new(),
        }
    }

    /// Counts a run with a state that may have been judged before.
    pub(super) fn judge(&mut self, state: u64, judge: impl FnOnce() -> Result<(), String>) {
        self.runs += 1;
        if self.seen.insert(state) {
            self.different += 1;
            self.note(judge());
        }
    }

    /// Counts a run of its own.
    pub(super) fn count(&mut self, result: Result<(), String>) {
        self.runs += 1;
        self.different += 1;
        self.note(result);
    }

    fn note(&mut self, result: Result<(), String>) {
        if let Err(why) = result {
            self.bad += 1;
            if self.shown.len() < SHOWN {
                self.shown.push(why);
            }
        }
    }

    /// Prints the line of the table.
    pub(super) fn told(self) -> Self {
        let seconds = self.begun.elapsed().as_secs_f64();
        eprintln!(
            "faults| {} | {} | {} | {} | {} | {seconds:.1}",
            self.test, self.case, self.runs, self.different, self.bad
        );
        self
    }

    /// Fails when anything was bad.
    pub(super) fn sound(self) {
        let told = self.told();
        assert!(told.runs > 0, "nothing was tried");
        assert_eq!(told.bad, 0, "{} {}:\n{}", told.test, told.case, told.why());
    }

    /// What went wrong first.
    pub(super) fn why(&self) -> String {
        self.shown.join("\n")
    }

    /// Fails when nothing was bad: a control that is not caught.
    pub(super) fn caught(self) {
        let told = self.told();
        assert_ne!(told.bad, 0, "{} {}: not caught in {} runs", told.test, told.case, told.runs);
    }
}
