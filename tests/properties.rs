//! What holds for every batch: the result does not depend on threads or on the order of independent entries, and a
//! batch and its reverse give the input back. Trees are in memory, so that many can be tried.

use crate::support::{TestRepo, block, tree};
use bstr::{BString, ByteSlice};
use patchmany::disk::{Kind, Owner, Stamp, Stat};
use patchmany::edit::{BatchPath, Code, RelPath};
use patchmany::input;
use patchmany::plan::{
    self, LastLink, NoPlan, Plan, PlannedFile, Refusal, Resolved, Sink, SinkFull, Source, Target,
};
use patchmany::report::ErrorReport;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

/// Files by path.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Memory(BTreeMap<RelPath, Vec<u8>>);

impl Source for Memory {
    fn resolve(&self, written: &BatchPath, _last: LastLink) -> Result<Target, Refusal> {
        let path = RelPath::new(written.written.clone());
        let path = path.map_err(|error| Refusal::new(Code::OutsideRoot, error.to_string()))?;
        Ok(Target { path, via: None })
    }

    fn stat(&self, path: &RelPath) -> io::Result<Option<Stat>> {
        let size = self.0.get(path).map_or(0, |bytes| bytes.len() as u64);
        let is_folder = path.is_root() || self.0.keys().any(|other| other.is_below(path));
        let kind = if is_folder { Kind::Directory } else { Kind::File };
        let stamp = Stamp { file: (0, 0), size, modified: 0, changed: 0 };
        let stat = Stat {
            kind,
            mode: 0o644,
            size,
            links: 1,
            owner: Owner { user: 0, group: 0 },
            bare: false,
            stamp,
            mount: 0,
        };
        Ok((is_folder || self.0.contains_key(path)).then_some(stat))
    }

    fn read(&self, path: &RelPath) -> io::Result<(Vec<u8>, Stat)> {
        let bytes = self.0.get(path).cloned().ok_or(io::ErrorKind::NotFound)?;
        Ok((bytes, self.stat(path)?.ok_or(io::ErrorKind::NotFound)?))
    }

    fn read_link(&self, _path: &RelPath) -> io::Result<BString> {
        Err(io::ErrorKind::InvalidInput.into())
    }

    fn list(&self, path: &RelPath) -> io::Result<Vec<BString>> {
        let below = self.0.keys().filter(|other| other.is_below(path));
        let skip = path.names().count();
        let mut names: Vec<_> = below.filter_map(|other| Some(other.names().nth(skip)?.to_owned())).collect();
        names.dedup();
        Ok(names)
    }

    fn is_binary(&self, _path: &RelPath) -> bool {
        false
    }
}

/// What a batch makes of a tree.
#[derive(Default)]
struct Collected(Mutex<BTreeMap<RelPath, Option<Vec<u8>>>>);

impl Sink for Collected {
    fn put(&self, file: &Resolved) -> Result<(), SinkFull> {
        let new = file.new.as_ref().map(|bytes| bytes.whole().to_vec());
        self.0.lock().unwrap().insert(file.path.clone(), new);
        Ok(())
    }
}

impl Memory {
    /// The tree after the batch, with its plan.
    fn apply(&self, batch: &Value) -> Result<(Memory, Plan), NoPlan> {
        self.apply_into(batch, &())
    }

    /// The same; `shown` gets every file too.
    fn apply_into(&self, batch: &Value, shown: &dyn Sink) -> Result<(Memory, Plan), NoPlan> {
        let options = input::Options {
            format: None,
            default_path: None,
            placeholders: false,
            strip: None,
            exists: &|_| false,
        };
        // A batch that is no JSON is told as a string.
        let text = batch.as_str().map_or_else(|| batch.to_string(), str::to_owned);
        let batch = input::parse(text.as_bytes(), &options).unwrap();
        let sink = Collected::default();
        let plan = plan::plan(&batch, self, &plan::Options::default(), &(&sink, shown))?;
        let mut after = self.clone();
        for (path, bytes) in sink.0.into_inner().unwrap() {
            after.0.remove(&path);
            after.0.extend(bytes.map(|bytes| (path, bytes)));
        }
        Ok((after, plan))
    }
}

/// A file and what a batch does to it.
#[derive(Clone, Debug)]
struct Job {
    number: usize,
    words: Vec<String>,
    ends: Ends,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum Ends {
    Lf,
    Crlf,
    Mixed,
    LfButLast,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// Replaces these lines, one block each.
    Blocks(u8),
    /// Replaces these lines by the hunks of one diff.
    Diff(u8),
    /// Adds a line behind each of these.
    Insert(u8),
    Delete,
    Create,
    Move,
    MoveAndEdit(u8),
    /// Fits nowhere.
    Absent,
}

impl Job {
    fn path(&self) -> String {
        format!("d{}/f{}.txt", self.number % 3, self.number)
    }

    fn line(&self, line: usize) -> String {
        format!("{}.{line} {}", self.number, self.words[line])
    }

    fn text(&self) -> String {
        let last = self.words.len() - 1;
        let end = |line: usize| match self.ends {
            Ends::Crlf => "\r\n",
            Ends::Mixed if line % 2 == 1 => "\r\n",
            Ends::LfButLast if line == last => "",
            _ => "\n",
        };
        (0..self.words.len()).map(|line| self.line(line) + end(line)).collect()
    }

    /// The lines that the bits of `mask` choose; never none.
    fn chosen(&self, mask: u8) -> Vec<usize> {
        let all = 0..self.words.len();
        let some: Vec<usize> = all.filter(|line| mask >> (line % 8) & 1 == 1).collect();
        if some.is_empty() { vec![0] } else { some }
    }

    /// A diff that turns old lines into new ones, or back.
    fn diff(&self, mask: u8, way: Way) -> String {
        let hunk = |line: usize| {
            let (old, new) = way.sort(self.line(line), format!("new {}", self.line(line)));
            format!("@@\n-{old}\n+{new}\n")
        };
        self.chosen(mask).into_iter().map(hunk).collect()
    }

    /// The entries of the batch, or those that take them back.
    fn entries(&self, way: Way) -> Vec<Value> {
        let path = self.path();
        let moved = format!("moved/{}.txt", self.number);
        let (from, to) = way.sort(path.clone(), moved);
        let edit = |line: usize, new: String| {
            let (old, new) = way.sort(self.line(line), new);
            json!({"path": path, "patch": block(&old, &new)})
        };
        let lines = |mask| self.chosen(mask).into_iter();
        let create = json!({"path": path, "operation": "create", "diff": self.text()});
        let delete = json!({"path": path, "operation": "delete"});
        match (self.what, way) {
            (What::Blocks(mask), _) => lines(mask).map(|n| edit(n, format!("new {n}"))).collect(),
            (What::Insert(mask), _) => {
                lines(mask).map(|n| edit(n, format!("{}\nmore {n}", self.line(n)))).collect()
            }
            (What::Diff(mask), _) => vec![json!({"path": path, "diff": self.diff(mask, way)})],
            (What::Delete, Way::Back) | (What::Create, Way::There) => vec![create],
            (What::Delete, Way::There) | (What::Create, Way::Back) => vec![delete],
            (What::Move, _) => vec![json!({"path": from, "moveTo": to})],
            (What::MoveAndEdit(mask), _) => {
                vec![json!({"path": from, "moveTo": to, "diff": self.diff(mask, way)})]
            }
            (What::Absent, _) => vec![json!({"path": path, "patch": block("nowhere at all", "x")})],
        }
    }
}

/// Whether a batch is applied or taken back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    There,
    Back,
}

impl Way {
    fn sort<T>(self, old: T, new: T) -> (T, T) {
        if self == Self::There { (old, new) } else { (new, old) }
    }
}

fn memory(jobs: &[Job]) -> Memory {
    let there = jobs.iter().filter(|job| !matches!(job.what, What::Create));
    Memory(there.map(|job| (RelPath::new(job.path()).unwrap(), job.text().into_bytes())).collect())
}

fn batch(jobs: &[Job]) -> Value {
    jobs.iter().flat_map(|job| job.entries(Way::There)).collect()
}

/// Takes every entry back, last first.
fn reverse(jobs: &[Job]) -> Value {
    let mut entries: Vec<Value> = jobs.iter().flat_map(|job| job.entries(Way::Back)).collect();
    entries.reverse();
    Value::from(entries)
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        any::<u8>().prop_map(What::Blocks),
        any::<u8>().prop_map(What::Diff),
        any::<u8>().prop_map(What::Insert),
        Just(What::Delete),
        Just(What::Create),
        Just(What::Move),
        any::<u8>().prop_map(What::MoveAndEdit),
    ]
}

fn jobs(what: impl Strategy<Value = What>) -> impl Strategy<Value = Vec<Job>> {
    let ends = prop_oneof![Just(Ends::Lf), Just(Ends::Crlf), Just(Ends::Mixed), Just(Ends::LfButLast)];
    let words = prop::collection::vec("[a-zéß ]{0,8}[a-z]", 1..9);
    let job = (words, ends, what).prop_map(|(words, ends, what)| Job { number: 0, words, ends, what });
    prop::collection::vec(job, 1..12).prop_map(|mut jobs| {
        (0..).zip(&mut jobs).for_each(|(number, job)| job.number = number);
        jobs
    })
}

fn settings() -> ProptestConfig {
    ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn a_batch_and_its_reverse_give_the_input_back(jobs in jobs(what())) {
        let before = memory(&jobs);
        let (after, _) = before.apply(&batch(&jobs)).unwrap();
        prop_assert_ne!(&after, &before);
        let (back, _) = after.apply(&reverse(&jobs)).unwrap();
        prop_assert_eq!(back, before);
    }

    #[test]
    fn counts_are_those_of_the_diff(jobs in jobs(what()), twice in any::<bool>()) {
        let before = memory(&jobs);
        let entries = |way| if way == Way::There { batch(&jobs) } else { reverse(&jobs) };
        let mut all = entries(Way::There).as_array().unwrap().clone();
        if twice {
            all.extend(entries(Way::Back).as_array().unwrap()[..].iter().take(jobs.len() / 2).cloned());
        }
        let contents = patchmany::diff::Contents::default();
        let (_, plan) = before.apply_into(&Value::from(all), &contents).unwrap();
        let diff = contents.diff(&plan);
        let counted = |sign: &[u8], header: &[u8]| {
            diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(header)).count()
        };
        let summed = |count: fn(&PlannedFile) -> usize| plan.files.iter().map(count).sum::<usize>();
        let shown = (counted(b"+", b"+++ "), counted(b"-", b"--- "));
        prop_assert_eq!((summed(|file| file.added), summed(|file| file.removed)), shown);
    }

    #[test]
    fn no_refusal_is_longer_than_four_kilobytes(word in "[a-z]{3}[\\x01-\\x08\"\\\\é“\u{1f600}a]{0,200}", n in 1usize..80) {
        for (code, text, entry) in refused_with(&word, n) {
            let files = Memory([(RelPath::new("f").unwrap(), text.into_bytes())].into());
            let refusals = match files.apply(&entry) {
                Err(NoPlan::Refused { refusals, .. }) => refusals,
                other => panic!("{code} {other:?}"),
            };
            prop_assert_eq!(refusals[0].code, code, "{:?}", refusals);
            for refusal in &refusals {
                let json = serde_json::to_string(&ErrorReport::from(refusal)).unwrap();
                prop_assert!(json.len() < 4096, "{} bytes: {}", json.len(), json);
            }
        }
    }

    #[test]
    fn threads_make_no_difference(jobs in jobs(prop_oneof![9 => what(), 1 => Just(What::Absent)])) {
        let (before, batch) = (memory(&jobs), batch(&jobs));
        let runs = [1, 2, 8].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| format!("{:?}", before.apply(&batch)))
        });
        prop_assert_eq!(&runs[0], &runs[1]);
        prop_assert_eq!(&runs[0], &runs[2]);
    }

    #[test]
    fn the_order_of_independent_files_makes_no_difference(
        (jobs, shuffled) in jobs(prop_oneof![19 => what(), 1 => Just(What::Absent)])
            .prop_flat_map(|jobs| (Just(jobs.clone()), Just(jobs).prop_shuffle())),
    ) {
        let before = memory(&jobs);
        match (before.apply(&batch(&jobs)), before.apply(&batch(&shuffled))) {
            (Ok((one, _)), Ok((other, plan))) => {
                prop_assert_eq!(one, other);
                let mentioned: Vec<_> = shuffled.iter().map(Job::path).collect();
                let listed = plan.files.iter().map(|file| file.from.as_ref().unwrap_or(&file.path));
                prop_assert_eq!(listed.map(|path| path.as_bstr().to_str_lossy()).collect::<Vec<_>>(), mentioned);
            }
            (Err(one), Err(other)) => prop_assert_eq!(refused(&one), refused(&other)),
            (one, other) => prop_assert!(false, "{one:?}\n{other:?}"),
        }
    }
}

/// A batch for a file of lines with `word`, and the code that it is refused with; `n` makes it longer.
fn refused_with(word: &str, n: usize) -> Vec<(Code, String, Value)> {
    let lines = |make: &dyn Fn(usize) -> String| (0..n).map(|k| make(k) + "\n").collect::<String>();
    let plain = lines(&|k| format!("{k} {word}"));
    let equal = lines(&|_| format!("  {word}")).repeat(2);
    let edit = |old: &str, new: &str| json!({"path": "f", "old_string": old, "new_string": new});
    let diff = |diff: String| json!({"path": "f", "diff": diff});
    let swap = |tag: &str, line: usize| Value::from(format!("[f#{tag}]\nSWAP {line}.={line}:\n+x\n"));
    let tag = |text: &str| patchmany::edit::Hash::of(text.as_bytes()).tag().to_string();
    let uneven = lines(&|k| format!("{}a{k} {word}", " ".repeat(1 + k % 3)));
    let flat = lines(&|k| format!("a{k} {word}"));
    vec![
        (Code::NoMatch, plain.clone(), edit(&lines(&|k| format!("{k} other {word}")), "x")),
        (Code::NoMatch, plain.clone(), edit(&plain.to_uppercase().repeat(2), "x")),
        (Code::Ambiguous, equal.clone(), edit(&format!("  {word}\n"), &plain)),
        (Code::Ambiguous, equal.clone(), diff(format!("@@\n-{word}\n+x\n"))),
        (Code::AnchorNotFound, plain.clone(), diff(format!("@@ nowhere {word}\n-0 {word}\n+x\n"))),
        (
            Code::IndentUncertain,
            format!("    z\n{uneven}"),
            edit(&format!("z\n{flat}"), &format!("z\n  new {word}\n{flat}")),
        ),
        (
            Code::LowEvidence,
            format!("\t{}\n", "{}".repeat(n)),
            diff(format!("@@\n-  {}\n+x {word}\n", "{}".repeat(n))),
        ),
        (Code::AlreadyApplied, plain.clone(), edit("gone\n", &plain)),
        (Code::Overlap, plain.clone(), diff(format!("@@\n-0 {word}\n+x\n@@\n-0 {word}\n+y\n"))),
        (Code::Range, plain.clone(), swap(&tag(&plain), n + 1)),
        (Code::Stale, plain.clone(), swap("12345678", 1)),
        (Code::NotText, format!("\0{plain}"), edit(&plain, "x")),
    ]
}

/// The refused paths with their codes, sorted.
fn refused(no_plan: &NoPlan) -> Vec<(Option<BString>, Code)> {
    let NoPlan::Refused { refusals, .. } = no_plan else { return Vec::new() };
    let mut all: Vec<_> = refusals.iter().map(|refusal| (refusal.path.clone(), refusal.code)).collect();
    all.sort();
    all
}

#[test]
fn the_program_gives_one_result_for_any_number_of_threads() {
    let names: Vec<String> = (0..120).map(|n| format!("d{}/f{n}", n % 7)).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "one\ntwo\nthree\n")).collect();
    let repo = TestRepo::new(&files);
    let batch: Value = names.iter().map(|name| json!({"path": name, "patch": block("two", name)})).collect();
    let results = [1, 2, 8].map(|jobs| {
        let twin = repo.twin();
        let ran = twin.run(&["apply", "--json", "-j", &jobs.to_string()], batch.to_string());
        let mut json = ran.json();
        json["stats"]["elapsed_ms"] = Value::Null;
        json["transaction"] = Value::Null;
        (json.to_string(), tree(twin.root()))
    });
    assert_eq!(results[0], results[1]);
    assert_eq!(results[0], results[2]);
    assert_ne!(results[0].1, tree(repo.root()));
}
