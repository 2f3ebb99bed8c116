//! Runs the entries of one group on its virtual tree.

use super::moves::GivingWay;
use super::outcome::{PlacedHunk, append_step};
use super::rules::Rules;
use super::stale::{Standing, Version};
use super::tree::{Content, Now, Tree};
use super::{
    Applied, Options, Refusal, Source, Target, base, binary, mode, numbering, sections, stale, step,
};
use crate::disk::Node;
use crate::edit::{
    Action, Code, Existing, FileOperation, Mode, Precondition, RelPath, Step, Warning, WarningCode,
};
use bstr::{BString, ByteSlice};
use bytes::Bytes;
use std::collections::HashSet;

/// An entry with its paths resolved.
pub(super) struct Entry<'a> {
    pub operation: &'a FileOperation,
    pub target: Target,
    pub to: Option<Target>,
    /// The version that it was written for, where that is found out already.
    pub version: Option<Version>,
}

/// Runs entries one after the other and keeps what goes wrong.
pub(super) struct Composer<'a> {
    options: &'a Options,
    rules: &'a Rules,
    source: &'a dyn Source,
    pub tree: Tree<'a>,
    /// Where files stand that gave way to others and are moved on by a later entry.
    giving_way: GivingWay,
    pub refusals: Vec<Refusal>,
    pub warnings: Vec<Warning>,
}

impl<'a> Composer<'a> {
    pub(super) fn new(source: &'a dyn Source, options: &'a Options, rules: &'a Rules) -> Self {
        Self {
            options,
            rules,
            source,
            tree: Tree::new(source),
            giving_way: GivingWay::default(),
            refusals: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Runs the entries of a group in batch order; numbered sections of one file are made together, by the first.
    pub(super) fn run_all(&mut self, entries: &[&Entry<'_>]) {
        let sections = sections::sections(entries);
        let mut runs: Vec<Run> = entries.iter().map(|_| Run::Own).collect();
        self.giving_way = GivingWay::new(entries);
        for (i, entry) in entries.iter().enumerate() {
            self.giving_way.at = i;
            let members: Vec<&Entry<'_>> = sections[i].iter().map(|&at| entries[at]).collect();
            let version = self.one_version(&members);
            for &at in &sections[i] {
                let step = (at == i).then(|| sections::step(members.iter().copied()));
                let operation = sections::with_steps(entries[at].operation, step.into_iter().collect());
                runs[at] = version.as_ref().map_or(Run::Refused, |version| {
                    // The steps of all are those of the first: nothing is left to merge for the others.
                    let version = if at == i { version.clone() } else { Version::Present };
                    Run::In(operation, version)
                });
            }
            match &runs[i] {
                Run::Own => self.run(entry),
                Run::In(operation, version) => {
                    self.run(&sections::standing_in(entry, operation, version));
                }
                Run::Refused => {}
            }
        }
    }

    /// The version that the numbers of all these entries count; where there is none, that is noted.
    fn one_version(&mut self, members: &[&Entry<'_>]) -> Option<Version> {
        // All are asked, so that each stale one is told.
        let found: Vec<Option<Version>> = members.iter().map(|member| self.numbered(member)).collect();
        let versions: Vec<Version> = found.into_iter().collect::<Option<_>>()?;
        let refusals = sections::check_one_version(members, &versions);
        let agree = refusals.is_empty();
        self.refusals.extend(refusals);
        versions.into_iter().next().filter(|_| agree)
    }

    /// The version of its file that a numbered entry was written for: the file as it stands in the batch, or an earlier
    /// one that can be merged. A stale entry is noted.
    fn numbered(&mut self, entry: &Entry<'_>) -> Option<Version> {
        self.weak_tag(entry);
        let (versions, how) = (self.source.versions(), self.options.stale);
        let (origin, path) = (entry.operation.origin, &entry.target.path);
        let found =
            self.tree.touch(path, origin.entry).and_then(|slot| match (&slot.now, slot.before.hash()) {
                (Now::File(content), hash) => {
                    let is_on_disk = slot.old.as_ref().is_some_and(|old| content.bytes == *old);
                    let hash = hash.filter(|_| is_on_disk).unwrap_or_else(|| content.bytes.hash());
                    let on_disk = slot.old.as_ref().filter(|_| !is_on_disk);
                    let bytes = &content.bytes.whole();
                    stale::version(versions, how, entry, &Standing { bytes, hash, on_disk })
                }
                _ => Ok(Version::Present),
            });
        let path = path.as_bstr().to_owned();
        found.map_err(|refusal| self.refusals.push(refusal.at(origin).on(path))).ok()
    }

    /// The version of its file that an entry was written for: as it is on disk, where the batch has put it, or an
    /// earlier one that can be merged.
    fn version(&mut self, entry: &Entry<'_>, path: &RelPath) -> Result<Version, Refusal> {
        if let Some(version) = &entry.version {
            return Ok(version.clone());
        }
        let (versions, how) = (self.source.versions(), self.options.stale);
        let slot = self.tree.touch(path, entry.operation.origin.entry)?;
        let (bytes, hash) = match (&slot.before, &slot.old, &slot.now) {
            (Node::File { hash, .. }, Some(old), _) => (old.clone(), *hash),
            (_, _, Now::File(content)) => (content.bytes.whole(), content.bytes.hash()),
            _ => return Ok(Version::Present),
        };
        stale::version(versions, how, entry, &Standing { bytes: &bytes, hash, on_disk: None })
    }

    fn weak_tag(&mut self, entry: &Entry<'_>) {
        if let Precondition::WeaklyTagged(tag) = &entry.operation.expects {
            let path = entry.target.path.clone();
            let message =
                format!("the tag {tag} has 16 bits only: another version of {path} may have it too");
            self.warn(WarningCode::WeakTag, &path, message);
        }
    }

    /// Runs one entry; a refusal leaves its path as it was.
    fn run(&mut self, entry: &Entry<'_>) {
        let origin = entry.operation.origin;
        let path = entry.target.path.clone();
        self.weak_tag(entry);
        for target in [Some(&entry.target), entry.to.as_ref()].into_iter().flatten() {
            if let Some(link) = &target.via {
                let message = format!("{link} is a link: {} was edited, the link stays", target.path);
                self.warn(WarningCode::ViaSymlink, link, message);
            }
        }
        if let Err(refusals) = self.act(entry, &path) {
            self.refusals.extend(refusals.into_iter().map(|r| r.at(origin).on(path.as_bstr())));
        }
    }

    fn act(&mut self, entry: &Entry<'_>, path: &RelPath) -> Result<(), Vec<Refusal>> {
        mode::allowed(entry.operation.mode, self.options).map_err(|r| vec![r])?;
        match &entry.operation.action {
            Action::Modify { steps } => self.modify(entry, path, steps),
            Action::Create { content, existing } => self.create(entry, path, content.as_bytes(), *existing),
            Action::Delete { steps } => self.delete(entry, path, steps),
            Action::Rename { steps, .. } => self.rename(entry, path, steps),
            Action::Copy { steps, .. } => self.copy(entry, path, steps),
        }
    }

    fn warn(&mut self, code: WarningCode, path: &RelPath, message: String) {
        self.warnings.push(Warning { code, path: Some(path.as_bstr().to_owned()), message });
    }

    /// The file at `path`, which must be there, fit the entry's tag, and be writable.
    fn file(&mut self, entry: &Entry<'_>, path: &RelPath) -> Result<Content, Refusal> {
        self.version(entry, path)?;
        self.present(entry, path)
    }

    /// The file at `path`, which must be there and be writable.
    fn present(&mut self, entry: &Entry<'_>, path: &RelPath) -> Result<Content, Refusal> {
        let options = self.options;
        let aside = self.giving_way.aside(path).cloned().map(Now::File);
        let slot = self.tree.touch(path, entry.operation.origin.entry)?;
        let content = match aside.as_ref().unwrap_or(&slot.now) {
            Now::File(content) if entry.operation.mode != Some(Mode::Link) => content.clone(),
            Now::Link(content) if mode::is_about_link(entry.operation, options) => content.clone(),
            now @ Now::Link(_)
                if matches!(entry.operation.action, Action::Delete { .. } | Action::Rename { .. }) =>
            {
                let hint = "run with --allow-symlinks to delete or move the link itself; what it names stays";
                return Err(not_regular(path, now).hint(hint));
            }
            Now::Absent if slot.before.is_absent() => return Err(missing(self.source, path)),
            Now::Absent => {
                return Err(Refusal::new(
                    Code::Missing,
                    format!("an earlier entry of the batch removes {path}"),
                ));
            }
            other => return Err(not_regular(path, other)),
        };
        if content.mode & 0o222 == 0 && content.origin.is_some() && !options.force_read_only {
            let message = format!("{path} is read-only");
            return Err(
                Refusal::new(Code::ReadOnly, message).hint("run with --force-read-only to change it anyway")
            );
        }
        Ok(content)
    }

    /// Refuses hunks that may have been meant for a place that is gone since the base.
    pub(super) fn check_base(&mut self, entries: &[&Entry<'_>]) {
        let known: HashSet<_> = self.refusals.iter().filter_map(|refusal| refusal.origin).collect();
        let found = base::check(self.source, &self.tree.slots, entries);
        self.refusals.extend(found.into_iter().filter(|r| r.origin.is_none_or(|at| !known.contains(&at))));
    }

    fn modify(&mut self, entry: &Entry<'_>, path: &RelPath, steps: &[Step]) -> Result<(), Vec<Refusal>> {
        let edited = self.edited(entry, path, steps)?;
        self.put(entry, path, edited).map_err(|r| vec![r])
    }

    /// The file at `path` after all steps, which are made on the version that the entry was written for.
    fn edited(&mut self, entry: &Entry<'_>, path: &RelPath, steps: &[Step]) -> Result<Content, Vec<Refusal>> {
        let version = self.version(entry, path).map_err(|r| vec![r])?;
        let content = self.present(entry, path).map_err(|r| vec![r])?;
        match version {
            Version::Present => self.edit(path, content, steps),
            Version::Earlier(bytes) => self.merge(entry, content, &bytes, steps),
        }
    }

    /// The file with what `steps` make of its earlier version `tagged`.
    fn merge(
        &mut self,
        entry: &Entry<'_>,
        mut present: Content,
        tagged: &Bytes,
        steps: &[Step],
    ) -> Result<Content, Vec<Refusal>> {
        let path = &entry.target.path;
        let then = Content {
            bytes: tagged.clone().into(),
            added: 0,
            removed: 0,
            hunks: Vec::new(),
            ..present.clone()
        };
        let mut then = self.edit(path, then, steps)?;
        let (new, now) = (then.bytes.whole(), present.bytes.whole());
        let merged =
            stale::merge(self.source.versions(), entry, (tagged, &new), &now).map_err(|r| vec![r])?;
        if merged.bytes[..] == now[..] {
            return match self.rules.applied {
                Applied::Refuse if new != *tagged => Err(vec![stale::applied(path)]),
                _ => Ok(present),
            };
        }
        let message = format!("{path} has changed since: the entry was merged with what has changed");
        self.warn(WarningCode::Merged, path, message);
        then.hunks.iter_mut().for_each(|hunk| merged.place(hunk));
        append_step(&mut present.hunks, then.hunks);
        present.added += then.added;
        present.removed += then.removed;
        present.bytes = merged.bytes.into();
        Ok(present)
    }

    /// The file after all steps. A step that fails is told and left out, so that later ones are tried too.
    fn edit(&self, path: &RelPath, mut content: Content, steps: &[Step]) -> Result<Content, Vec<Refusal>> {
        let is_text = |step: &Step| binary::change(step).is_none();
        if steps.iter().any(is_text) && self.source.is_binary(path) {
            let message = "the attributes declare the file binary";
            return Err(vec![Refusal::new(Code::NotText, message)]);
        }
        if !steps.is_empty()
            && content.bytes.as_one().is_some_and(binary::is_lfs_pointer)
            && self.source.is_in_lfs(path)
        {
            let message = "the file is a Git LFS pointer, and its content is not here";
            return Err(vec![Refusal::new(Code::NotText, message).hint("git lfs pull it first")]);
        }
        let mut refusals = Vec::new();
        for step in steps {
            match step::run(&content.bytes.whole(), step, self.rules) {
                Ok(mut done) => {
                    note_numbers(step, &mut done.hunks);
                    content.added += done.hunks.iter().map(|h| h.added).sum::<usize>();
                    content.removed += done.hunks.iter().map(|h| h.removed).sum::<usize>();
                    append_step(&mut content.hunks, done.hunks);
                    content.bytes = done.bytes;
                }
                Err(found) => refusals.extend(found),
            }
        }
        if refusals.is_empty() { Ok(content) } else { Err(refusals) }
    }

    fn create(
        &mut self,
        entry: &Entry<'_>,
        path: &RelPath,
        bytes: &[u8],
        existing: Existing,
    ) -> Result<(), Vec<Refusal>> {
        let replace = existing != Existing::Refuse || self.options.overwrite;
        if entry.operation.expects == Precondition::FolderExists {
            self.tree.folder_of(path).map_err(|r| vec![r])?;
        }
        self.give_way(entry, path).map_err(|r| vec![r])?;
        let slot = self.tree.touch(path, entry.operation.origin.entry).map_err(|r| vec![r])?;
        let lines = bytes.lines().count();
        let is_numbered = bytes.to_str().is_ok_and(|text| numbering::numbered(text.lines()));
        let new = match &slot.now {
            Now::File(_) if replace => {
                let old = self.file(entry, path).map_err(|r| vec![r])?;
                if existing == Existing::Fill && !old.bytes.is_empty() {
                    return Err(vec![filled_already(path)]);
                }
                if existing == Existing::ReplaceByText && bytes.is_empty() && !old.bytes.is_empty() {
                    return Err(vec![emptied(path)]);
                }
                let removed = old.bytes.whole().lines().count();
                Content { bytes: bytes.to_vec().into(), added: lines, removed, hunks: Vec::new(), ..old }
            }
            Now::File(_) => return Err(vec![exists(path)]),
            other @ (Now::Link(_) | Now::Special) => return Err(vec![not_regular(path, other)]),
            Now::Absent | Now::Folder => {
                // An earlier entry may have deleted a file here.
                let removed = slot.old.as_ref().map_or(0, |old| old.lines().count());
                self.version(entry, path).map_err(|r| vec![r])?;
                Content { added: lines, removed, ..Content::new(bytes.to_vec().into(), 0o666) }
            }
        };
        self.tree.room_for(path).map_err(|r| vec![r])?;
        if is_numbered {
            let message =
                "every line of the new file begins with a number, as a display shows them".to_owned();
            self.warn(WarningCode::NumberedText, path, message);
        }
        self.put(entry, path, new).map_err(|r| vec![r])
    }

    fn delete(&mut self, entry: &Entry<'_>, path: &RelPath, steps: &[Step]) -> Result<(), Vec<Refusal>> {
        let content = self.file(entry, path).map_err(|r| vec![r])?;
        let left = self.edit(path, content, steps)?;
        if !steps.is_empty() && !left.bytes.is_empty() {
            let message = format!("{path} holds more than the entry removes");
            return Err(vec![
                Refusal::new(Code::NoMatch, message).hint("read the file again: others changed it"),
            ]);
        }
        self.clear(path).map_err(|r| vec![r])
    }

    fn rename(&mut self, entry: &Entry<'_>, path: &RelPath, steps: &[Step]) -> Result<(), Vec<Refusal>> {
        let Some(to) = entry.to.as_ref().map(|t| t.path.clone()).filter(|to| to != path) else {
            return self.modify(entry, path, steps);
        };
        let edited = self.edited(entry, path, steps)?;
        self.clear(path).map_err(|r| vec![r])?;
        let arrived = self.arrive(entry, &to, edited);
        if let Err(refusal) = arrived {
            return Err(vec![refusal.on(to.as_bstr())]);
        }
        Ok(())
    }

    fn copy(&mut self, entry: &Entry<'_>, path: &RelPath, steps: &[Step]) -> Result<(), Vec<Refusal>> {
        let Some(to) = entry.to.as_ref().map(|t| t.path.clone()).filter(|to| to != path) else {
            return Err(vec![Refusal::new(Code::Exists, format!("{path} would be copied onto itself"))]);
        };
        let from = self.source_of_copy(entry, path).map_err(|r| vec![r])?;
        let edited = self.edit(path, from, steps)?;
        let added = edited.bytes.whole().lines().count();
        let new = Content { added, removed: 0, ..edited };
        self.arrive(entry, &to, new).map_err(|refusal| vec![refusal.on(to.as_bstr())])
    }

    /// A new file with the bytes of the one at `path`, which may be read-only: as it is on disk, because git copies
    /// what stood there before the diff.
    fn source_of_copy(&mut self, entry: &Entry<'_>, path: &RelPath) -> Result<Content, Refusal> {
        self.version(entry, path)?;
        let slot = self.tree.touch(path, entry.operation.origin.entry)?;
        let mode = |bits: u32| if bits & 0o100 == 0 { 0o666 } else { 0o777 };
        match (&slot.before, &slot.old, &slot.now) {
            (Node::File { mode: bits, .. }, Some(old), _) => {
                Ok(Content::new(old.clone().into(), mode(*bits)))
            }
            (_, _, Now::File(made)) => Ok(Content::new(made.bytes.clone(), mode(made.mode))),
            (_, _, Now::Absent) => Err(missing(self.source, path)),
            (_, _, other) => Err(not_regular(path, other)),
        }
    }

    fn arrive(&mut self, entry: &Entry<'_>, to: &RelPath, content: Content) -> Result<(), Refusal> {
        let (overwrite, force) = (self.options.overwrite, self.options.force_read_only);
        self.give_way(entry, to)?;
        let slot = self.tree.touch(to, entry.operation.origin.entry)?;
        match &slot.now {
            Now::Absent | Now::Folder => {}
            Now::File(there) if overwrite => {
                if there.mode & 0o222 == 0 && there.origin.is_some() && !force {
                    return Err(Refusal::new(Code::ReadOnly, format!("{to} is read-only"))
                        .hint("run with --force-read-only to replace it anyway"));
                }
            }
            Now::File(_) => return Err(exists(to)),
            other => return Err(not_regular(to, other)),
        }
        self.tree.room_for(to)?;
        self.put(entry, to, content)
    }

    /// Puts the file at `path` aside when a later entry moves it: so names can be chained and swapped.
    fn give_way(&mut self, entry: &Entry<'_>, path: &RelPath) -> Result<(), Refusal> {
        let slot = self.tree.touch(path, entry.operation.origin.entry)?;
        match &slot.now {
            Now::File(content) if content.origin.as_ref() == Some(path) && self.giving_way.is_moved(path) => {
                self.giving_way.put_aside(path, content.clone());
                slot.now = Now::Absent;
            }
            _ => {}
        }
        Ok(())
    }

    /// Puts a file, with the mode that the entry names.
    fn put(&mut self, entry: &Entry<'_>, path: &RelPath, content: Content) -> Result<(), Refusal> {
        let moves_link = content.origin.as_ref().is_some_and(|from| self.tree.was_link(from));
        let mode = entry.operation.mode.or(moves_link.then_some(Mode::Link));
        let now = mode::made(self.source, path, content, mode)
            .map_err(|refusal| refusal.on(written(entry, path)))?;
        self.tree.touch(path, entry.operation.origin.entry)?.now = now;
        Ok(())
    }

    fn clear(&mut self, path: &RelPath) -> Result<(), Refusal> {
        if self.giving_way.take(path).is_some() {
            return Ok(());
        }
        self.tree.touch(path, 0)?.now = Now::Absent;
        Ok(())
    }
}

/// What is run for an entry.
enum Run {
    Own,
    /// This, in which numbered sections have come together, for this version.
    In(FileOperation, Version),
    /// Nothing: a section of its file is refused.
    Refused,
}

/// The path of `entry` that `path` stands for, as the batch writes it.
fn written(entry: &Entry<'_>, path: &RelPath) -> BString {
    let to = entry.to.as_ref().filter(|to| to.path == *path);
    match (&entry.operation.action, to) {
        (Action::Rename { to, .. } | Action::Copy { to, .. }, Some(_)) => to.written.clone(),
        _ => entry.operation.path.written.clone(),
    }
}

fn exists(path: &RelPath) -> Refusal {
    Refusal::new(Code::Exists, format!("{path} exists already"))
        .hint("delete it in the batch first, or run with --overwrite")
}

/// Notes the hunks whose new text looks as if a display had numbered its lines.
fn note_numbers(step: &Step, placed: &mut [PlacedHunk]) {
    for hunk in step.hunks.iter().filter(|hunk| numbering::is_numbered(hunk)) {
        let own = placed.iter_mut().filter(|placed| placed.origin == hunk.origin);
        own.for_each(|placed| placed.notes.push(WarningCode::NumberedText));
    }
}

fn filled_already(path: &RelPath) -> Refusal {
    Refusal::new(Code::Usage, format!("an empty old text makes or fills a file, and {path} has content"))
        .hint("put the lines that the new text shall stand beside into the old text")
}

fn emptied(path: &RelPath) -> Refusal {
    let message =
        format!("the empty content would leave nothing of {path}; say allow_empty if that is meant");
    Refusal::new(Code::Usage, message).hint("add `\"allow_empty\": true`, or delete the file")
}

fn not_regular(path: &RelPath, now: &Now) -> Refusal {
    let what = match now {
        Now::Folder => "a folder",
        Now::Link(_) => "a symbolic link",
        Now::File(_) => "a file, and no symbolic link",
        _ => "not a regular file",
    };
    Refusal::new(Code::NotRegular, format!("{path} is {what}"))
}

/// The file is not there; a name beside it that reads almost the same is told.
fn missing(source: &dyn Source, path: &RelPath) -> Refusal {
    if source.is_left_out(path) {
        let message = format!("{path} is left out of the work tree by sparse-checkout");
        return Refusal::new(Code::Missing, message).hint("git sparse-checkout add its folder");
    }
    let refusal = Refusal::new(Code::Missing, format!("{path} does not exist"));
    let beside = path.parent().and_then(|folder| source.list(&folder).ok()).unwrap_or_default();
    let wanted = path.name().to_str_lossy().to_lowercase();
    let close = beside.iter().take(2000).map(|name| {
        let shown = name.to_str_lossy();
        (similar::TextDiff::from_chars(&*wanted, &*shown.to_lowercase()).ratio(), shown.into_owned())
    });
    match close.filter(|(ratio, _)| *ratio > 0.75).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))) {
        Some((_, name)) => refusal.hint(format!("did you mean {name}?")),
        None => refusal,
    }
}
