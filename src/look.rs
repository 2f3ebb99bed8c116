//! The commands that only look, as functions: `read`, `glob` and `grep`. They follow the path policy of batches and print nothing.

#[cfg(feature = "search")]
mod find;

use crate::disk::{Disk, Folders, Kind, OsDisk};
use crate::edit::{BatchPath, Code, PathBase, RelPath};
use crate::error::{Error, say_next};
use crate::plan::{LastLink, PathRules, Refusal, Source, Start, Target, WorkTree};
use crate::report::{ErrorReport, FileShown, LookReport, Mode, Report};
use crate::search::{Excerpt, MOST_LINES, Range, Reading, Snapshots, split_ranges};
use crate::workspace::Workspace;
use bstr::{BStr, BString};
use std::ops::ControlFlow;

#[cfg(feature = "search")]
pub use find::{GrepOptions, Show, glob, grep};

/// Shows lines of files, and remembers their versions in the snapshot store. Each is asked for as `PATH` or
/// `PATH:RANGE[,RANGE]…`; a file whose name ends like a range is that file.
pub fn read(workspace: &Workspace, asked: &[BString]) -> LookReport<FileShown> {
    let mut report = LookReport::new(Mode::Read);
    let place = match Place::new(workspace) {
        Ok(place) => place,
        Err(error) => {
            refuse(&mut report, error);
            return report;
        }
    };
    // Without a place for it nothing is remembered, which is no fault of what is shown.
    let snapshots = workspace.snapshots().ok();
    let mut most = MOST_LINES;
    for asked in asked {
        let limit = snapshots.as_ref().map_or(0, Snapshots::most);
        match read_one(&place, asked.as_ref(), most, limit) {
            Ok((path, bytes, excerpt)) => {
                let _ = snapshots.as_ref().map(|store| {
                    if let Some(bytes) = bytes {
                        store.remember(&path, &excerpt.hash, &bytes)?;
                    }
                    store.note_shown(&path, &excerpt.hash)
                });
                most -= excerpt.rows.len();
                report.truncated |= excerpt.left.is_some();
                let name = place.name(&path);
                report.files.push(FileShown::new(path.as_bstr().into(), name, excerpt));
            }
            Err(refusal) => report.refuse((&refusal).into()),
        }
    }
    say_next(report.mode, report.outcome, &mut report.errors);
    report
}

/// A report of a run that could not begin.
pub fn refused<F>(mode: Mode, error: Error) -> LookReport<F> {
    let mut report = LookReport::new(mode);
    refuse(&mut report, error);
    report
}

fn refuse<F>(report: &mut LookReport<F>, error: Error) {
    let mut told = Report::new(report.mode);
    error.tell(&mut told);
    told.errors.into_iter().for_each(|error: ErrorReport| report.refuse(error));
}

/// The excerpt, at most `most` lines of it, and the bytes of the file where it has no more than `limit`.
fn read_one(
    place: &Place<'_>,
    asked: &BStr,
    most: usize,
    limit: usize,
) -> Result<(RelPath, Option<Vec<u8>>, Excerpt), Refusal> {
    let source = place.source();
    let (written, ranges) = named(&source, asked);
    let read = || {
        let target = source.resolve(&batch_path(written), LastLink::Follow)?;
        let stat = source.stat(&target.path).map_err(|e| cannot("look at", &target, &e))?;
        let stat = stat.ok_or_else(|| Refusal::new(Code::Missing, "the file does not exist"))?;
        match stat.kind {
            Kind::File => {}
            Kind::Directory => return Err(Refusal::new(Code::NotRegular, "the path is a folder")),
            Kind::Link | Kind::Special => {
                return Err(Refusal::new(Code::NotRegular, "the path is no regular file"));
            }
        }
        if source.is_binary(&target.path) {
            return Err(Refusal::new(Code::NotText, "the attributes declare the file binary"));
        }
        let mut reading = Reading::new(&ranges, most)?;
        let mut kept = usize::try_from(stat.size).is_ok_and(|size| size <= limit).then(Vec::new);
        let take = &mut |piece: &[u8]| {
            // The file may have grown since.
            kept = kept.take().filter(|kept| kept.len() + piece.len() <= limit);
            if let Some(kept) = &mut kept {
                kept.extend_from_slice(piece);
            }
            reading.take(piece)
        };
        place.read_pieces(&target.path, take).map_err(|e| cannot("read", &target, &e))?;
        Ok((target.path, kept, reading.finish()?))
    };
    read().map_err(|refusal| refusal.on(written))
}

/// The path and the ranges of one argument: a name that exists is a path as a whole.
fn named<'a>(source: &dyn Source, asked: &'a BStr) -> (&'a BStr, Vec<Range>) {
    let Some((path, ranges)) = split_ranges(asked) else { return (asked, Vec::new()) };
    let whole = source.resolve(&batch_path(asked), LastLink::Keep);
    match whole.is_ok_and(|target| source.stat(&target.path).is_ok_and(|stat| stat.is_some())) {
        true => (asked, Vec::new()),
        false => (path, ranges),
    }
}

fn batch_path(written: &BStr) -> BatchPath {
    BatchPath { written: written.to_owned(), base: PathBase::Current }
}

fn cannot(doing: &str, target: &Target, error: &std::io::Error) -> Refusal {
    Refusal::new(Code::Io, format!("cannot {doing} {}: {error}", target.path))
}

/// What a run looks at.
struct Place<'a> {
    workspace: &'a Workspace,
    folders: Folders<OsDisk>,
    rules: Box<dyn PathRules>,
}

impl<'a> Place<'a> {
    fn new(workspace: &'a Workspace) -> Result<Self, Error> {
        Ok(Self { workspace, folders: workspace.folders()?, rules: workspace.rules(None)? })
    }

    fn source(&self) -> WorkTree<'_, OsDisk> {
        let start = Start { base: self.workspace.base().clone(), within: self.workspace.within().clone() };
        WorkTree::new(&self.folders, self.workspace.spellings(), start, &*self.rules)
    }

    fn read_pieces(
        &self,
        path: &RelPath,
        take: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> std::io::Result<()> {
        self.folders.disk().read_pieces(&self.folders.parent(path)?, path.name(), take).map(drop)
    }

    fn name(&self, path: &RelPath) -> BString {
        self.workspace.name(path)
    }
}
