//! The order in which the files of one git diff are changed. Git lists them by name, and means all at once: where a file
//! takes the name of a folder, or a folder that of a file, what stands in the way goes first.
//!
//! Everything else keeps its order, and so does what a series of diffs does to one name in turn.

use crate::edit::{Action, FileOperation};
use bstr::{BStr, BString, ByteSlice};
use std::collections::{HashMap, HashSet};

/// The operations of diffs in an order in which they can be made one after the other.
pub(super) fn arrange(operations: Vec<FileOperation>) -> Vec<FileOperation> {
    let units = units(&operations);
    let mut order = Vec::with_capacity(units.len());
    for run in runs(&units) {
        order.extend(Run::new(&units[run.clone()]).order().into_iter().map(|at| run.start + at));
    }
    let mut slots: Vec<Option<FileOperation>> = operations.into_iter().map(Some).collect();
    order.into_iter().flat_map(|unit| units[unit].at.clone()).filter_map(|at| slots[at].take()).collect()
}

/// An operation on a path, with those behind it that fill the same path.
struct Unit {
    at: std::ops::Range<usize>,
    path: BString,
    /// What stands there afterwards that did not before.
    made: Option<BString>,
    /// Whether the path is gone afterwards.
    is_removed: bool,
}

fn units(operations: &[FileOperation]) -> Vec<Unit> {
    let mut units: Vec<Unit> = Vec::new();
    for (at, operation) in operations.iter().enumerate() {
        let path = &operation.path.written;
        // Only to fill what was deleted or made goes with it.
        let fills = matches!(operation.action, Action::Create { .. } | Action::Modify { .. });
        if !fills || units.last().is_none_or(|unit| unit.path != *path) {
            units.push(Unit { at: at..at, path: path.clone(), made: None, is_removed: false });
        }
        let Some(unit) = units.last_mut() else { continue };
        unit.at.end = at + 1;
        match &operation.action {
            Action::Create { .. } => (unit.made, unit.is_removed) = (Some(path.clone()), false),
            Action::Delete { .. } => unit.is_removed = true,
            Action::Rename { to, .. } => (unit.made, unit.is_removed) = (Some(to.written.clone()), true),
            Action::Copy { to, .. } => unit.made = Some(to.written.clone()),
            Action::Modify { .. } => {}
        }
    }
    units
}

/// Cuts the units where a name is changed that was changed or made before: what is done to one name in turn stays in
/// turn.
fn runs(units: &[Unit]) -> Vec<std::ops::Range<usize>> {
    let (mut runs, mut start) = (Vec::new(), 0);
    let (mut changed, mut made) = (HashSet::new(), HashSet::new());
    for (at, unit) in units.iter().enumerate() {
        let again = changed.contains(&unit.path) || made.contains(&unit.path);
        if again || unit.made.as_ref().is_some_and(|name| made.contains(name)) {
            runs.push(start..at);
            start = at;
            changed.clear();
            made.clear();
        }
        changed.insert(&unit.path);
        made.extend(&unit.made);
    }
    runs.push(start..units.len());
    runs
}

/// Units that are meant all at once.
struct Run<'a> {
    units: &'a [Unit],
    /// Who removes a path.
    removed: HashMap<&'a BStr, usize>,
    /// Who removes something below a folder.
    removed_below: HashMap<&'a BStr, Vec<usize>>,
}

impl<'a> Run<'a> {
    fn new(units: &'a [Unit]) -> Self {
        let mut run = Self { units, removed: HashMap::new(), removed_below: HashMap::new() };
        for (at, unit) in units.iter().enumerate().filter(|(_, unit)| unit.is_removed) {
            run.removed.insert(unit.path.as_bstr(), at);
            for folder in folders(unit.path.as_bstr()) {
                run.removed_below.entry(folder).or_default().push(at);
            }
        }
        run
    }

    /// Who must come before the unit `at`: whoever removes what stands in the way of what it makes.
    fn before(&self, at: usize) -> Vec<usize> {
        let Some(made) = &self.units[at].made else { return Vec::new() };
        let above = folders(made.as_bstr()).filter_map(|folder| self.removed.get(folder));
        let below = self.removed_below.get(made.as_bstr()).into_iter().flatten();
        above.chain(below).copied().filter(|other| *other != at).collect()
    }

    fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.units.len());
        let mut begun = vec![false; self.units.len()];
        for first in 0..self.units.len() {
            // Each with those that must come before it and are still to be looked at.
            let mut open: Vec<(usize, Vec<usize>)> = Vec::new();
            let mut next = Some(first);
            loop {
                if let Some(at) = next.filter(|at| !std::mem::replace(&mut begun[*at], true)) {
                    open.push((at, self.before(at)));
                }
                let Some((at, waiting)) = open.last_mut() else { break };
                next = waiting.pop();
                if next.is_none() {
                    order.push(*at);
                    open.pop();
                }
            }
        }
        order
    }
}

/// The folders above a path.
fn folders(path: &BStr) -> impl Iterator<Item = &BStr> {
    path.find_iter("/").map(|end| path[..end].as_bstr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{Existing, Origin, Precondition};

    /// `+p` is created, `-p` deleted, `p>q` renamed, `p` changed.
    fn check(written: &[&str], expected: &[&str]) {
        let operation = |(at, text): (usize, &&str)| {
            let (path, action) = match (text.strip_prefix('+'), text.strip_prefix('-'), text.split_once('>'))
            {
                (Some(path), ..) => (path, Action::Create { content: "".into(), existing: Existing::Refuse }),
                (_, Some(path), _) => (path, Action::Delete { steps: Vec::new() }),
                (.., Some((path, to))) => (path, Action::Rename { to: to.into(), steps: Vec::new() }),
                _ => (*text, Action::Modify { steps: Vec::new() }),
            };
            let origin = Origin { entry: at, hunk: 0, line: 0 };
            FileOperation { path: path.into(), action, expects: Precondition::Any, mode: None, origin }
        };
        let arranged = arrange(written.iter().enumerate().map(operation).collect());
        let found: Vec<&str> = arranged.iter().map(|operation| written[operation.origin.entry]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_stands_in_the_way_goes_first() {
        check(&["+d", "-d/x", "-d/y", "f"], &["-d/y", "-d/x", "+d", "f"]);
        check(&["+d", "d/y>e"], &["d/y>e", "+d"]);
        check(&["+p/x", "p>q"], &["p>q", "+p/x"]);
        check(&["x>d", "d/y>p/e", "-p"], &["-p", "d/y>p/e", "x>d"]);
        check(&["d/y>d"], &["d/y>d"]);
        check(&["b>a", "a/x>b"], &["a/x>b", "b>a"]);
    }

    #[test]
    fn all_else_keeps_its_order() {
        check(&["+a", "b", "-c", "d>e"], &["+a", "b", "-c", "d>e"]);
        check(&["-p", "+p", "+q"], &["-p", "+p", "+q"]);
        // A series: the folder comes after the file.
        check(&["+d", "-d", "+d/y", "-d/y"], &["+d", "-d", "+d/y", "-d/y"]);
    }
}
