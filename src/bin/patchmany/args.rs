//! The flags, and how they become library options.

use crate::convert::ConvertArgs;
#[cfg(feature = "search")]
use crate::find::{GlobArgs, GrepArgs};
use crate::human::Style;
use crate::look::ReadArgs;
use bstr::ByteVec;
use clap::{Args, Parser, Subcommand, ValueEnum};
use patchmany::apply::{Diff, Options, Record, Test, TestCommand, Uncommitted};
use patchmany::edit::{BatchPath, Format, PathBase};
use patchmany::error::Error;
use patchmany::git::Hooks;
use patchmany::plan::{self, Choice, Pattern, Picks};
use patchmany::transaction::Durability;
use patchmany::undo::{self, Edited};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Applies a batch of edits to many files: all of it, or nothing.
#[derive(Parser, Debug)]
#[command(version, propagate_version = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand, Debug)]
pub(crate) enum Command {
    /// Resolve the batch, swap all files in, record them in git if asked
    Apply(ApplyArgs),
    /// Resolve the batch and show its diff; writes nothing at all
    Check(ApplyArgs),
    /// Resolve the batch and save its plan, to be read and applied later
    ///
    /// The plan holds the hash of every file as it is now, all changes, and their diff. `patchmany apply` takes it like
    /// a batch, as long as none of the files has changed. It can be narrowed: by --only and --select when it is made,
    /// or when it is applied, or by making a plan of the plan.
    Plan(PlanArgs),
    /// Finish or roll back what an interrupted run has left
    Recover(RecoverArgs),
    /// Bring the files back to their state before an operation
    Undo(UndoArgs),
    /// Take the last undo back
    Redo(RedoArgs),
    /// List the operations of this work tree, newest first
    Log(LogArgs),
    /// Show the files of an operation
    Show(ShowArgs),
    /// Write the batch in another form; applies nothing
    ///
    /// Entries that the form can say as they stand are only written anew: no file is read. Where one needs to know the
    /// file (line numbers and tags, whole lines around a text, a text for whole lines, what a deleted file holds), the
    /// whole batch is resolved against the tree first, and converted for the files as they are now.
    Convert(ConvertArgs),
    /// Print a JSON Schema
    #[cfg(feature = "schema")]
    Schema {
        /// What is described
        kind: SchemaArg,
    },
    /// Show numbered lines under the tag that hash-anchored edits name
    Read(ReadArgs),
    /// List the files whose paths fit a pattern, the last modified first
    #[cfg(feature = "search")]
    Glob(GlobArgs),
    /// Search the lines of files for a regular expression
    #[cfg(feature = "search")]
    Grep(GrepArgs),
}

#[derive(Args, Debug)]
pub(crate) struct ApplyArgs {
    /// The batch; `-`, or nothing with a pipe, reads standard input
    pub(crate) file: Option<PathBuf>,
    /// The form of the batch
    #[arg(long, value_name = "FORMAT", default_value = "auto")]
    format: FormatArg,
    /// Start relative paths here, and let none leave this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// The path of edits that name none
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Only check: as `patchmany check`
    #[arg(short = 'n', long)]
    pub(crate) dry_run: bool,
    /// Apply only entries whose paths fit, as for `patchmany glob`; a name alone takes the file, or all in the folder
    #[arg(long, value_name = "GLOB", value_parser = pattern)]
    only: Vec<Pattern>,
    /// Apply only the entries (`3`, `5-7`) and hunks (`3.1`) that this file lists, numbered as in the JSON result
    #[arg(long, value_name = "FILE")]
    select: Option<PathBuf>,
    /// Let created and moved files replace existing ones
    #[arg(long)]
    overwrite: bool,
    /// Change read-only files too; they stay read-only
    #[arg(long)]
    force_read_only: bool,
    /// Make, change and remove symbolic links that lead to places inside the root
    #[arg(long)]
    allow_symlinks: bool,
    /// Take so many leading folders off the names in a diff
    #[arg(long, value_name = "N")]
    strip: Option<usize>,
    /// The loosest way to find old text; by default `exact` for diffs, else `indent`: all ways
    #[arg(long = "match", value_name = "PASS")]
    loosest: Option<LoosestArg>,
    /// The revision that the author of the batch has seen, for files that differ from it; HEAD by default
    #[arg(long, value_name = "REV")]
    base: Option<String>,
    /// Leave out hunks whose new text stands in the file already and whose old text does not
    #[arg(long)]
    skip_applied: bool,
    /// Merge an edit that names an earlier version of its file with what has changed since
    #[arg(long)]
    recover_stale: bool,
    /// Let lines like `# ...` stand for any text in between
    #[arg(long)]
    placeholders: bool,
    /// Make one commit of exactly the batch; other changes in its files stay staged or unstaged as they are
    #[arg(long, value_name = "MESSAGE", num_args = 0..=1, require_equals = true, default_missing_value = "", conflicts_with = "stash")]
    commit: Option<String>,
    /// With --commit, commit the files of the batch as they then stand, other changes in them included
    #[arg(long, requires = "commit")]
    whole_files: bool,
    /// Stage the batch: in the index and in the work tree; other changes in its files stay as they are
    #[arg(long, conflicts_with_all = ["commit", "stash"])]
    stage: bool,
    /// Make a stash entry of the batch and leave the work tree as it is
    #[arg(long, value_name = "MESSAGE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    stash: Option<String>,
    /// Refuse when a file of the batch has changes that are not committed
    #[arg(long)]
    require_clean: bool,
    /// Run this in a copy of the tree with the batch, and apply it only if that succeeds; by default what `patchmany.test`
    /// says in your own git configuration, never in that of the repository; '' runs nothing
    #[arg(long, value_name = "CMD")]
    test: Option<String>,
    /// Share this path with the test, such as a build cache: ignored files are not copied; may be given more than once
    #[arg(long, value_name = "PATH")]
    test_cache: Vec<PathBuf>,
    /// Run no hooks when committing
    #[arg(long)]
    no_hooks: bool,
    /// What power loss may do: `full` and `batch` survive it, `none` is the fastest [default: what the file system needs]
    #[arg(long, value_name = "LEVEL")]
    durability: Option<DurabilityArg>,
    /// Exit with 1 when something changed
    #[arg(long)]
    pub(crate) exit_code: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the diff too
    #[arg(long)]
    pub(crate) diff: bool,
    /// Print a summary instead of the diff
    #[arg(long, conflicts_with = "diff")]
    pub(crate) stat: bool,
    /// Print only errors
    #[arg(short, long)]
    quiet: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorArg,
    /// Show no progress bar
    #[arg(long)]
    no_progress: bool,
    /// Use so many threads
    #[arg(short, long, value_name = "N", value_parser = threads)]
    pub(crate) jobs: Option<usize>,
    /// Wait so many seconds for another run, or for git
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    lock_timeout: u64,
}

#[derive(Args, Debug)]
pub(crate) struct PlanArgs {
    /// Write the plan here; `-` prints it
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) how: ApplyArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RecoverArgs {
    /// The root of the interrupted run
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// List interrupted operations and what would be done; change nothing
    #[arg(long)]
    pub(crate) list: bool,
    /// Bring old versions back even where others changed files; theirs stay, the old ones are kept aside
    #[arg(long)]
    pub(crate) back: bool,
    /// Complete what was interrupted instead
    #[arg(long, conflicts_with = "back")]
    pub(crate) forward: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Wait so many seconds for another run
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) lock_timeout: u64,
}

#[derive(Args, Debug)]
pub(crate) struct UndoArgs {
    /// The operation; its id may be cut short [default: the last one that is not undone]
    pub(crate) id: Option<String>,
    #[command(flatten)]
    pub(crate) how: ReverseArgs,
}

#[derive(Args, Debug)]
pub(crate) struct RedoArgs {
    #[command(flatten)]
    pub(crate) how: ReverseArgs,
}

#[derive(Args, Debug)]
pub(crate) struct ReverseArgs {
    /// Only this file, or what is below this folder; may be given more than once
    #[arg(long = "path", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Start relative paths here, and let none leave this folder
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Keep what was changed in a file since: merge it line by line; a conflict is refused
    #[arg(long)]
    merge: bool,
    /// Make one commit of the changed files
    #[arg(long, value_name = "MESSAGE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    commit: Option<String>,
    /// Run no hooks when committing
    #[arg(long)]
    no_hooks: bool,
    /// What power loss may do: `full` and `batch` survive it, `none` is the fastest [default: what the file system needs]
    #[arg(long, value_name = "LEVEL")]
    durability: Option<DurabilityArg>,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// Print only errors
    #[arg(short, long)]
    quiet: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorArg,
    /// Wait so many seconds for another run, or for git
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    lock_timeout: u64,
}

#[derive(Args, Debug)]
pub(crate) struct LogArgs {
    /// A folder of the work tree
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Remove operations that are not to be kept any longer, and list nothing
    #[arg(long)]
    pub(crate) prune: bool,
    /// Print one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// With --prune, wait so many seconds for another run
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub(crate) lock_timeout: u64,
}

#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The operation; its id may be cut short
    pub(crate) id: String,
    /// A folder of the work tree
    #[arg(short = 'C', long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Show what it changed in the files too
    #[arg(long)]
    pub(crate) diff: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: ColorArg,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum FormatArg {
    Auto,
    PatchMany,
    Fenced,
    Ops,
    Envelope,
    Hashline,
    Edits,
    Diff,
    Blocks,
    Lsp,
    Suggestions,
}

/// What there is a schema of.
#[cfg(feature = "schema")]
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaArg {
    /// Batches in JSON: patch-many, ops, edits
    Batch,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LoosestArg {
    Exact,
    TrailingWs,
    Unicode,
    Indent,
}

impl LoosestArg {
    pub(crate) fn known(self) -> plan::Loosest {
        match self {
            Self::Exact => plan::Loosest::Exact,
            Self::TrailingWs => plan::Loosest::TrailingWs,
            Self::Unicode => plan::Loosest::Unicode,
            Self::Indent => plan::Loosest::Indent,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DurabilityArg {
    Full,
    Batch,
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ColorArg {
    Auto,
    Always,
    Never,
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text).map_err(|refusal| refusal.message)
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("a number from 1 to 1024 is expected".to_owned()),
    }
}

impl ApplyArgs {
    /// The options of the run; with `show_diff` the diff is made, which nobody sees beside JSON.
    ///
    /// # Errors
    /// A choice that cannot be read.
    pub(crate) fn options(&self, show_diff: bool) -> Result<Options, Error> {
        Ok(Options {
            choice: Choice { only: self.only.clone(), picks: self.picks()? },
            format: self.format.known(),
            default_path: self.path.as_deref().map(BatchPath::from),
            placeholders: self.placeholders,
            strip: self.strip,
            base: self.base.clone(),
            plan: plan::Options {
                overwrite: self.overwrite,
                force_read_only: self.force_read_only,
                allow_symlinks: self.allow_symlinks,
                applied: if self.skip_applied { plan::Applied::Skip } else { plan::Applied::Refuse },
                stale: if self.recover_stale { plan::Stale::Merge } else { plan::Stale::Refuse },
                loosest: self.loosest.map(LoosestArg::known),
            },
            uncommitted: if self.require_clean { Uncommitted::Refuse } else { Uncommitted::Edit },
            test: self.test(),
            record: self.record(),
            hooks: if self.no_hooks { Hooks::Skip } else { Hooks::Run },
            durability: self.durability.map(DurabilityArg::level),
            lock_timeout: Duration::from_secs(self.lock_timeout),
            diff: if show_diff && !self.json && !self.quiet { Diff::Make } else { Diff::Skip },
        })
    }

    fn picks(&self) -> Result<Option<Picks>, Error> {
        let Some(file) = &self.select else { return Ok(None) };
        let text = fs_err::read_to_string(file).map_err(|e| Error::Usage(e.to_string()))?;
        Picks::parse(&text).map(Some).map_err(|refusal| Error::Usage(refusal.message))
    }

    /// Whether a test was asked for, which only `apply` can run.
    pub(crate) fn asks_for_test(&self) -> bool {
        self.test.is_some() || !self.test_cache.is_empty()
    }

    fn test(&self) -> Test {
        let command = match &self.test {
            None => TestCommand::Configured,
            Some(line) if line.trim().is_empty() => TestCommand::None,
            Some(line) => TestCommand::Line(line.clone()),
        };
        Test { command, shared: self.test_cache.iter().map(|path| spelled(path)).collect() }
    }

    fn record(&self) -> Record {
        let given = |message: &String| Some(message.clone()).filter(|m| !m.is_empty());
        match (&self.commit, &self.stash) {
            (Some(message), _) if self.whole_files => Record::WholeFiles(given(message)),
            (Some(message), _) => Record::Commit(given(message)),
            (None, Some(message)) => Record::Stash(given(message)),
            (None, None) if self.stage => Record::Stage,
            (None, None) => Record::Nothing,
        }
    }

    pub(crate) fn style(&self) -> Style {
        Style { color: self.color.choice(), quiet: self.quiet }
    }

    pub(crate) fn wants_progress(&self) -> bool {
        !(self.no_progress || self.json || self.quiet) && std::io::stderr().is_terminal()
    }
}

fn spelled(path: &Path) -> BatchPath {
    BatchPath { written: Vec::from_path_lossy(path).into_owned().into(), base: PathBase::Current }
}

impl ReverseArgs {
    pub(crate) fn options(&self) -> undo::Options {
        let given = |message: &String| Some(message.clone()).filter(|m| !m.is_empty());
        undo::Options {
            paths: self.paths.iter().map(|path| spelled(path)).collect(),
            edited: if self.merge { Edited::Merge } else { Edited::Refuse },
            commit: self
                .commit
                .as_ref()
                .map_or(undo::Commit::No, |message| undo::Commit::Yes(given(message))),
            hooks: if self.no_hooks { Hooks::Skip } else { Hooks::Run },
            durability: self.durability.map(DurabilityArg::level),
            lock_timeout: Duration::from_secs(self.lock_timeout),
        }
    }

    pub(crate) fn style(&self) -> Style {
        Style { color: self.color.choice(), quiet: self.quiet }
    }
}

impl ShowArgs {
    pub(crate) fn style(&self) -> Style {
        Style { color: self.color.choice(), quiet: false }
    }
}

impl DurabilityArg {
    fn level(self) -> Durability {
        match self {
            Self::Full => Durability::Full,
            Self::Batch => Durability::Batch,
            Self::None => Durability::None,
        }
    }
}

impl ColorArg {
    fn choice(self) -> anstream::ColorChoice {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
    }
}

impl FormatArg {
    pub(crate) fn known(self) -> Option<Format> {
        Some(match self {
            Self::Auto => return None,
            Self::PatchMany => Format::PatchMany,
            Self::Fenced => Format::Fenced,
            Self::Ops => Format::Ops,
            Self::Envelope => Format::Envelope,
            Self::Hashline => Format::Hashline,
            Self::Edits => Format::Edits,
            Self::Diff => Format::Diff,
            Self::Blocks => Format::Blocks,
            Self::Lsp => Format::Lsp,
            Self::Suggestions => Format::Suggestions,
        })
    }
}
