//! Which entries and hunks of a batch, or of a saved plan, are applied. What is not chosen need not fit.
//!
//! A choice never takes half of what belongs together: a move with one end, a hunk that is not there.

use super::{LastLink, Pattern, Refusal, SavedPlan, Source};
use crate::edit::{Action, ChangeSet, Code, FileOperation, RelPath};
use bstr::{BString, ByteSlice};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What is applied: everything, unless it says otherwise.
#[derive(Clone, Default, Debug)]
pub struct Choice {
    /// Only paths that one of these takes; empty for all.
    pub only: Vec<Pattern>,
    /// Only these entries and hunks; `None` for all.
    pub picks: Option<Picks>,
}

/// Entries, and hunks of entries, by their numbers from 1.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Picks(BTreeMap<usize, Hunks>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Hunks {
    All,
    These(BTreeSet<usize>),
}

/// A batch of which a part is chosen.
#[derive(Debug)]
pub struct Chosen {
    /// What is chosen.
    pub batch: ChangeSet,
    /// The paths of every entry, where something is left out.
    entries: Vec<Named>,
}

/// An entry with its paths, as far as they can be resolved.
#[derive(Debug)]
struct Named {
    entry: usize,
    paths: Vec<RelPath>,
    is_whole: bool,
}

impl Choice {
    /// Whether everything is chosen.
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.picks.is_none()
    }

    /// The chosen part of `batch`. `name` tells how a path is called from where patterns start.
    ///
    /// # Errors
    /// `usage` for each entry or hunk that is not there or that is chosen by half, and where nothing is chosen.
    pub fn of_batch(
        &self,
        batch: ChangeSet,
        source: &dyn Source,
        name: &dyn Fn(&RelPath) -> BString,
    ) -> Result<Chosen, Vec<Refusal>> {
        if self.is_all() {
            return Ok(Chosen::all(batch));
        }
        let mut refusals = self.unknown(&numbers_of_batch(&batch));
        let (mut chosen, mut entries) = (Vec::new(), Vec::new());
        let ChangeSet { format, operations, mut warnings } = batch;
        for mut operation in operations {
            let entry = operation.origin.entry;
            let paths = Paths::of(&operation, source, name);
            let taken = match self.takes(&paths.names) {
                Err(half) => {
                    refusals.push(half.at(operation.origin).on(operation.path.written.clone()));
                    continue;
                }
                Ok(taken) => taken && self.narrow(&mut operation),
            };
            let is_whole = taken && self.hunks(entry).is_none_or(|hunks| *hunks == Hunks::All);
            entries.push(Named { entry, paths: paths.known, is_whole });
            chosen.extend(taken.then_some(operation));
        }
        warnings.retain(|warning| chosen.iter().any(|operation| operation.origin.entry == warning.entry));
        if refusals.is_empty() && chosen.is_empty() {
            refusals.push(self.nothing());
        }
        let batch = ChangeSet { format, operations: chosen, warnings };
        if refusals.is_empty() { Ok(Chosen { batch, entries }) } else { Err(refusals) }
    }

    /// The chosen part of `plan`, whose entries are the paths that it lists.
    ///
    /// # Errors
    /// As for a batch.
    pub fn of_plan(
        &self,
        mut plan: SavedPlan,
        name: &dyn Fn(&RelPath) -> BString,
    ) -> Result<SavedPlan, Vec<Refusal>> {
        if self.is_all() {
            return Ok(plan);
        }
        let mut refusals = self.unknown(&numbers_of_plan(&plan));
        let pairs = plan.moves();
        let mut taken = Vec::with_capacity(plan.len());
        for at in 0..plan.len() {
            // Both ends of a move are named together.
            let ends = pairs
                .iter()
                .filter(|(to, from)| [to, from].contains(&&at))
                .flat_map(|(to, from)| [*to, *from]);
            let names: BTreeSet<BString> =
                ends.chain([at]).filter_map(|at| plan.path(at)).map(|path| name(&path)).collect();
            let names: Vec<BString> = names.into_iter().collect();
            let by_path = self.takes(&names).map_err(|half| half.at(SavedPlan::origin(at, 0)));
            taken.push(
                by_path.unwrap_or_else(|half| {
                    refusals.push(half);
                    false
                }) && self.has_picked(at + 1),
            );
        }
        for &(to, from) in &pairs {
            taken[from] |= taken[to] && plan.is_removed(from);
            if taken[from] != taken[to] && refusals.is_empty() {
                let (one, other) = if taken[to] { (to, from) } else { (from, to) };
                let message = format!("the move needs entry {} too, which is not chosen", other + 1);
                refusals.push(usage(message).at(SavedPlan::origin(one, 0)));
            }
        }
        if refusals.is_empty() && !taken.contains(&true) {
            refusals.push(self.nothing());
        }
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let hunks = |at: usize| match self.hunks(at + 1) {
            Some(Hunks::These(hunks)) => Some(hunks),
            _ => None,
        };
        plan.narrow(&taken, hunks);
        Ok(plan)
    }

    /// Whether an entry with these names is chosen by them.
    fn takes(&self, names: &[BString]) -> Result<bool, Refusal> {
        if self.only.is_empty() {
            return Ok(true);
        }
        let fits = |name: &&BString| self.only.iter().any(|pattern| pattern.takes(name.as_bstr()));
        match names.iter().filter(fits).count() {
            0 => Ok(false),
            n if n == names.len() => Ok(true),
            _ => {
                let all: Vec<String> = names.iter().map(ToString::to_string).collect();
                let message =
                    format!("--only chooses one of {} alone, which move together", all.join(" and "));
                Err(usage(message).hint("choose both names, or none of them"))
            }
        }
    }

    fn hunks(&self, entry: usize) -> Option<&Hunks> {
        self.picks.as_ref()?.0.get(&entry)
    }

    fn has_picked(&self, entry: usize) -> bool {
        self.picks.is_none() || self.hunks(entry).is_some()
    }

    /// Takes the hunks that are not chosen out of an entry; whether anything of it is left.
    fn narrow(&self, operation: &mut FileOperation) -> bool {
        let entry = operation.origin.entry;
        if !self.has_picked(entry) {
            return false;
        }
        let Some(Hunks::These(chosen)) = self.hunks(entry) else { return true };
        let Some(steps) = operation.action.steps_mut() else { return false };
        for step in steps.iter_mut() {
            step.hunks.retain(|hunk| chosen.contains(&hunk.origin.hunk));
        }
        steps.retain(|step| !step.hunks.is_empty());
        !steps.is_empty()
    }

    /// Picks of what is not there.
    fn unknown(&self, known: &BTreeMap<usize, BTreeSet<usize>>) -> Vec<Refusal> {
        let mut refusals = Vec::new();
        for (entry, picked) in self.picks.iter().flat_map(|picks| &picks.0) {
            let Some(hunks) = known.get(entry) else {
                refusals.push(usage(format!(
                    "--select names entry {entry}, and there are {} entries",
                    known.len()
                )));
                continue;
            };
            let Hunks::These(picked) = picked else { continue };
            let missing = picked.difference(hunks);
            refusals.extend(missing.map(|hunk| {
                usage(format!("--select names hunk {hunk} of entry {entry}, which has none such"))
            }));
        }
        refusals
    }

    fn nothing(&self) -> Refusal {
        let patterns: Vec<&str> = self.only.iter().map(Pattern::as_str).collect();
        match patterns[..] {
            [] => usage("--select chooses nothing"),
            _ => usage(format!("--only {} chooses nothing of the batch", patterns.join(" --only "))),
        }
    }
}

fn usage(message: impl Into<String>) -> Refusal {
    Refusal::new(Code::Usage, message)
}

/// Every entry with the numbers of its hunks.
fn numbers_of_batch(batch: &ChangeSet) -> BTreeMap<usize, BTreeSet<usize>> {
    let mut known: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for operation in &batch.operations {
        let hunks = operation.action.steps().iter().flat_map(|step| &step.hunks);
        known.entry(operation.origin.entry).or_default().extend(hunks.map(|hunk| hunk.origin.hunk));
    }
    known
}

fn numbers_of_plan(plan: &SavedPlan) -> BTreeMap<usize, BTreeSet<usize>> {
    (0..plan.len()).map(|at| (at + 1, (1..=plan.edits(at)).collect())).collect()
}

/// The paths of an entry.
struct Paths {
    /// As patterns see them; as they are written where they lead nowhere.
    names: Vec<BString>,
    known: Vec<RelPath>,
}

impl Paths {
    fn of(operation: &FileOperation, source: &dyn Source, name: &dyn Fn(&RelPath) -> BString) -> Self {
        let to = match &operation.action {
            Action::Rename { to, .. } | Action::Copy { to, .. } => Some(to),
            _ => None,
        };
        let mut paths = Self { names: Vec::new(), known: Vec::new() };
        for written in [Some(&operation.path), to].into_iter().flatten() {
            match source.resolve(written, LastLink::Keep) {
                Ok(target) => {
                    paths.names.push(name(&target.path));
                    paths.known.push(target.path);
                }
                Err(_) => paths.names.push(written.written.clone()),
            }
        }
        if matches!(operation.action, Action::Copy { .. }) {
            // A copy changes nothing where it comes from.
            paths.names.drain(..1);
        }
        paths
    }
}

impl Chosen {
    /// All of a batch.
    pub fn all(batch: ChangeSet) -> Self {
        Self { batch, entries: Vec::new() }
    }

    /// Tells which refusals may come from what is left out.
    pub fn explain(&self, refusals: &mut [Refusal]) {
        for refusal in refusals {
            let Some(origin) = refusal.origin.filter(|_| depends_on_others(refusal.code)) else { continue };
            let own: Vec<&Named> = self.entries.iter().filter(|named| named.entry == origin.entry).collect();
            let meets = |named: &&Named| {
                let mut pairs = own
                    .iter()
                    .flat_map(|own| &own.paths)
                    .flat_map(|a| named.paths.iter().map(move |b| (a, b)));
                !named.is_whole && pairs.any(|(a, b)| a == b || a.is_below(b) || b.is_below(a))
            };
            let Some(other) = self.entries.iter().find(meets) else { continue };
            let what = match other.entry == origin.entry {
                true => "other hunks of this entry are not chosen, and it may need them".to_owned(),
                false => format!("entry {}, which is not chosen, is about the same path", other.entry),
            };
            refusal.message.push_str(&format!("; {what}"));
            refusal.hint.get_or_insert_with(|| "choose what it depends on too, or leave it out".to_owned());
        }
    }
}

/// Whether another entry could have made it fit.
fn depends_on_others(code: Code) -> bool {
    use Code::{
        Ambiguous, AnchorNotFound, Exists, IndentUncertain, LowEvidence, Missing, NoMatch, NotRegular, Range,
    };
    matches!(
        code,
        NoMatch
            | Ambiguous
            | AnchorNotFound
            | IndentUncertain
            | LowEvidence
            | Range
            | Missing
            | Exists
            | NotRegular
    )
}

/// A pick as a program writes it.
#[derive(Deserialize)]
#[serde(untagged)]
enum Pick {
    Entry(usize),
    Object { entry: usize, hunk: Option<usize> },
    List(Vec<Pick>),
}

impl Picks {
    /// Reads picks: numbers of entries (`3`, `5-7`) and of their hunks (`3.1`, `3.2-4`), with blanks, commas or lines
    /// between them and `#` before a comment; or JSON, numbers and objects with `entry` and maybe `hunk`, as they stand
    /// in a result, in a list or one after another.
    ///
    /// # Errors
    /// `usage` for anything else.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let mut picks = Self::default();
        if text.trim_start().starts_with(['[', '{']) {
            for pick in serde_json::Deserializer::from_str(text).into_iter::<Pick>() {
                picks.add(pick.map_err(|e| usage(format!("the choice cannot be read as JSON: {e}")))?)?;
            }
            return Ok(picks);
        }
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            for word in line.split([' ', '\t', ',', '\r']).filter(|word| !word.is_empty()) {
                let bad = || {
                    usage(format!("{word:?} in line {number} of the choice is no number of an entry or hunk"))
                };
                picks.add_word(word).ok_or_else(bad)?;
            }
        }
        Ok(picks)
    }

    fn add(&mut self, pick: Pick) -> Result<(), Refusal> {
        match pick {
            Pick::Entry(entry) | Pick::Object { entry, hunk: None } => self.add_entry(entry),
            Pick::Object { entry, hunk: Some(hunk) } => self.add_hunk(entry, hunk),
            Pick::List(picks) => picks.into_iter().try_for_each(|pick| self.add(pick))?,
        }
        Ok(())
    }

    fn add_word(&mut self, word: &str) -> Option<()> {
        let number = |text: &str| text.parse::<usize>().ok().filter(|n| *n > 0);
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let range = number(first)?..=number(last)?;
            (!range.is_empty() && range.end() - range.start() < 1_000_000).then_some(range)
        };
        match word.split_once('.') {
            None => range(word)?.for_each(|entry| self.add_entry(entry)),
            Some((entry, hunks)) => {
                let entry = number(entry)?;
                range(hunks)?.for_each(|hunk| self.add_hunk(entry, hunk));
            }
        }
        Some(())
    }

    fn add_entry(&mut self, entry: usize) {
        self.0.insert(entry, Hunks::All);
    }

    fn add_hunk(&mut self, entry: usize, hunk: usize) {
        let hunks = self.0.entry(entry).or_insert_with(|| Hunks::These(BTreeSet::new()));
        if let Hunks::These(hunks) = hunks {
            hunks.insert(hunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> String {
        match Picks::parse(text) {
            Ok(Picks(picks)) => {
                let shown = |(entry, hunks): (usize, Hunks)| match hunks {
                    Hunks::All => entry.to_string(),
                    Hunks::These(hunks) => format!("{entry}{hunks:?}"),
                };
                picks.into_iter().map(shown).collect::<Vec<_>>().join(" ")
            }
            Err(refusal) => format!("{}: {}", refusal.code, refusal.message),
        }
    }

    #[test]
    fn picks_are_numbers_of_entries_and_hunks() {
        assert_eq!(parse("3, 5-7 # and\n9.1\t9.3-4\r\n"), "3 5 6 7 9{1, 3, 4}");
        assert_eq!(parse("2.1 2 2.3"), "2");
        assert_eq!(
            parse("[1, {\"entry\": 2, \"hunk\": 1, \"pass\": \"exact\"}, [{\"entry\": 4}]]"),
            "1 2{1} 4"
        );
        assert_eq!(parse("{\"entry\":2,\"hunk\":1}\n{\"entry\":2,\"hunk\":3}\n"), "2{1, 3}");
        assert_eq!(parse(""), "");
    }

    #[test]
    fn other_words_are_refused() {
        for bad in ["x", "0", "1.0", "3-1", "1-", "1.2.3", "-1", "1\nzwei", "1-99999999999", "[\"a\"]", "[1"]
        {
            assert!(parse(bad).starts_with("usage: "), "{bad}: {}", parse(bad));
        }
    }
}
