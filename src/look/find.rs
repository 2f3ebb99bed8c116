//! `glob` and `grep`: files below a folder by their paths and by their lines, in an order that does not depend on threads.

use super::{Place, batch_path, refuse};
use crate::disk::{Disk, Folders, OsDisk};
use crate::edit::{Code, RelPath};
use crate::error::{Error, say_next};
use crate::plan::{LastLink, Pattern, Refusal, Source};
use crate::report::{ErrorReport, FileFound, FileMatched, LineMatched, LookReport, Mode, Outcome};
use crate::search::{
    Depth, Filter, Grep, Ground, Hits, Page, Query, Surroundings, Worker, glob as glob_files, walk,
};
use crate::workspace::Workspace;
use bstr::{BStr, BString};
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Files that are searched before the results are first counted; each time after that they are twice as many.
const FEW: usize = 512;

/// What `grep` looks for, where, and what it shows.
#[derive(Clone, Debug)]
pub struct GrepOptions {
    /// The regular expression.
    pub query: Query,
    /// The folder or file to look in; empty for where relative paths start.
    pub path: BString,
    /// Globs that a file has to fit; with `!` those that it must not fit.
    pub globs: Vec<String>,
    /// Types of files, by ripgrep's names.
    pub types: Vec<String>,
    /// What is shown.
    pub show: Show,
    /// Which results are shown: files, or with [`Show::Content`] matching lines.
    pub page: Page,
}

/// What `grep` shows of a file that has matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Show {
    /// Its path.
    Files,
    /// The lines.
    Content,
    /// Their number.
    Count,
}

/// The files below `folder` whose paths from there fit `pattern`, the last modified first.
pub fn glob(workspace: &Workspace, pattern: &str, folder: &BStr, page: Page) -> LookReport<FileFound> {
    let mut report = LookReport::new(Mode::Glob);
    if let Err(error) = glob_into(&mut report, workspace, pattern, folder, page) {
        refuse(&mut report, error);
    }
    report
}

fn glob_into(
    report: &mut LookReport<FileFound>,
    workspace: &Workspace,
    pattern: &str,
    folder: &BStr,
    page: Page,
) -> Result<(), Error> {
    let pattern = Pattern::new(pattern).map_err(refused)?;
    let place = Place::new(workspace)?;
    let start = place.start(folder).map_err(refused)?;
    let (mut found, faults) = glob_files(&place.ground(&start), &pattern);
    report.truncated = page.cut(&mut found);
    let file = |path: &RelPath| FileFound { path: path.as_bstr().into(), name: place.name(path) };
    report.files = found.iter().map(file).collect();
    tell(report, faults);
    Ok(())
}

/// The files, lines or counts that fit, by path.
pub fn grep(workspace: &Workspace, options: &GrepOptions) -> LookReport<FileMatched> {
    let mut report = LookReport::new(Mode::Grep);
    if let Err(error) = grep_into(&mut report, workspace, options) {
        refuse(&mut report, error);
    }
    report
}

fn grep_into(
    report: &mut LookReport<FileMatched>,
    workspace: &Workspace,
    options: &GrepOptions,
) -> Result<(), Error> {
    let grep = Grep::new(&options.query).map_err(refused)?;
    let place = Place::new(workspace)?;
    let start = place.start(options.path.as_ref()).map_err(refused)?;
    let ground = place.ground(&start);
    let filter = Filter::new(&ground, &options.globs, &options.types).map_err(refused)?;
    let (mut paths, mut faults) = walk(&ground, &filter, &|path, _| Some(path));
    paths.sort();
    let mut gathered = Gathered { options, place: &place, seen: 0, files: Vec::new() };
    let workers = Workers { grep: &grep, folders: &place.folders, idle: Mutex::default() };
    let (mut rest, mut most) = (&paths[..], if options.page.head.is_some() { FEW } else { paths.len() });
    while !rest.is_empty() {
        let (window, later) = rest.split_at(most.min(rest.len()));
        (rest, most) = (later, most * 2);
        let depth = options.depth();
        let one = |path| workers.lend(|hand| hand.search(&place.folders, path, depth));
        let hits: Vec<_> = window.par_iter().map(one).collect();
        for (path, hits) in window.iter().zip(hits) {
            match hits {
                Ok(hits) => gathered.add(path, hits),
                Err(error) => faults.push(format!("cannot search {path}: {error}")),
            }
        }
        if gathered.seen >= options.page.needs() {
            break;
        }
    }
    report.truncated = options.page.head.is_some() && gathered.seen >= options.page.needs();
    report.files = gathered.files;
    tell(report, faults);
    Ok(())
}

/// Workers that wait for the next file: what each holds takes longer to get than most files to search.
struct Workers<'a> {
    grep: &'a Grep,
    folders: &'a Folders<OsDisk>,
    idle: Mutex<Vec<Hand>>,
}

/// A worker with the last file that it read, and the folder of that. The memory is that of the largest file so far:
/// to give it back and take it again costs more than the search.
struct Hand {
    worker: Worker,
    bytes: Vec<u8>,
    folder: RelPath,
    open: <OsDisk as Disk>::Dir,
}

impl Workers<'_> {
    fn lend<T>(&self, run: impl FnOnce(&mut Hand) -> T) -> T {
        let idle = self.locked().pop();
        let mut hand = idle.unwrap_or_else(|| Hand {
            worker: self.grep.worker(),
            bytes: Vec::new(),
            folder: RelPath::root(),
            open: self.folders.root().clone(),
        });
        let done = run(&mut hand);
        self.locked().push(hand);
        done
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Hand>> {
        // A panic elsewhere loses a worker and spoils none.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hand {
    fn search(&mut self, folders: &Folders<OsDisk>, path: &RelPath, depth: Depth) -> std::io::Result<Hits> {
        if !is_in(path, &self.folder) {
            (self.folder, self.open) = (path.parent().unwrap_or_else(RelPath::root), folders.parent(path)?);
        }
        folders.disk().read_into(&self.open, path.name(), &mut self.bytes)?;
        self.worker.search(&self.bytes, depth)
    }
}

/// Whether the file lies in the folder itself.
fn is_in(path: &RelPath, folder: &RelPath) -> bool {
    let above = path.as_bstr().len() - path.name().len();
    path.is_below(folder) && above == folder.as_bstr().len() + usize::from(!folder.is_root())
}

impl GrepOptions {
    fn depth(&self) -> Depth {
        match self.show {
            Show::Files => Depth::First,
            Show::Count => Depth::Count,
            Show::Content => Depth::Rows(self.page.needs()),
        }
    }
}

/// The results so far.
struct Gathered<'a> {
    options: &'a GrepOptions,
    place: &'a Place<'a>,
    /// Results before the page and on it.
    seen: usize,
    files: Vec<FileMatched>,
}

impl Gathered<'_> {
    fn add(&mut self, path: &RelPath, mut hits: Hits) {
        if hits.count == 0 {
            return;
        }
        let (query, page, seen) = (&self.options.query, &self.options.page, self.seen);
        let (shown, count) = match self.options.show {
            Show::Content => {
                page.cut_rows(&mut hits, seen, (query.before, query.after));
                self.seen = self.seen.saturating_add(hits.count);
                (!hits.rows.is_empty(), None)
            }
            Show::Files | Show::Count => {
                self.seen += 1;
                (page.shows(seen), (self.options.show == Show::Count).then_some(hits.count))
            }
        };
        if shown {
            let name = self.place.name(path);
            let lines = hits.rows.into_iter().map(LineMatched::from).collect();
            self.files.push(FileMatched { path: path.as_bstr().into(), name, count, lines });
        }
    }
}

/// Ends a report: nothing found is an outcome of its own; what could not be looked at does not hide what was found.
fn tell<F>(report: &mut LookReport<F>, faults: Vec<String>) {
    if report.files.is_empty() {
        report.outcome = Outcome::NothingFound;
    }
    report.errors.extend(faults.into_iter().map(|fault| ErrorReport::new(Code::Io, fault)));
    say_next(report.mode, report.outcome, &mut report.errors);
}

fn refused(refusal: Refusal) -> Error {
    Error::Refused { refusals: vec![refusal], warnings: Vec::new() }
}

impl Place<'_> {
    /// Where a search starts: an existing folder or file.
    fn start(&self, written: &BStr) -> Result<RelPath, Refusal> {
        let source = self.source();
        if written.is_empty() {
            return Ok(self.workspace.base().clone());
        }
        let path =
            source.resolve_any(&batch_path(written), LastLink::Follow).map_err(|r| r.on(written))?.path;
        let is_there = path.is_root() || source.stat(&path).is_ok_and(|stat| stat.is_some());
        let missing = || Refusal::new(Code::Missing, "there is no such folder or file").on(written);
        is_there.then_some(path).ok_or_else(missing)
    }

    fn ground<'b>(&'b self, start: &'b RelPath) -> Ground<'b> {
        let repository = self.workspace.repo().is_some();
        let surroundings = if repository { Surroundings::Repository } else { Surroundings::Plain };
        Ground { root: self.workspace.root(), start, surroundings }
    }
}
