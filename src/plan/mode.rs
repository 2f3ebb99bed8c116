//! What the mode of an entry means: permissions of a file, a symbolic link, or a commit of another repository.
//!
//! Links are made and changed only when the run allows it, and lead to places inside the root only.

use super::tree::{Content, Now};
use super::{LastLink, Options, Refusal, Source};
use crate::edit::{Action, BatchPath, Code, FileOperation, Mode, PathBase, RelPath};
use bstr::{BString, ByteSlice};

/// Whether a run may do anything about a path of this mode.
pub(super) fn allowed(mode: Option<Mode>, options: &Options) -> Result<(), Refusal> {
    match mode {
        Some(Mode::Submodule) => Err(Refusal::new(Code::NotRegular, "the entry is about a submodule")
            .hint("move the submodule with git, and leave it out of the batch")),
        Some(Mode::Link) if !options.allow_symlinks => {
            Err(Refusal::new(Code::NotRegular, "the entry is about a symbolic link")
                .hint("run with --allow-symlinks to make, change and remove links"))
        }
        _ => Ok(()),
    }
}

/// Whether an entry means the link that stands at its path: its form says so, or it deletes or moves the name, whatever
/// stands there.
pub(super) fn is_about_link(operation: &FileOperation, options: &Options) -> bool {
    let is_about_name = match &operation.action {
        Action::Delete { .. } => true,
        Action::Rename { steps, .. } => steps.is_empty(),
        _ => false,
    };
    operation.mode == Some(Mode::Link)
        || (is_about_name && operation.mode.is_none() && options.allow_symlinks)
}

/// What stands at `path` when it gets `content` and `mode`.
pub(super) fn made(
    source: &dyn Source,
    path: &RelPath,
    content: Content,
    mode: Option<Mode>,
) -> Result<Now, Refusal> {
    let on_disk = content.origin.is_some();
    let mode = match mode {
        Some(Mode::Link) => {
            stays_inside(source, path, &content.bytes.whole())?;
            return Ok(Now::Link(content));
        }
        // Whoever may read the file may run it; a new file leaves that to the umask.
        Some(Mode::Executable) if on_disk => content.mode | ((content.mode & 0o444) >> 2),
        Some(Mode::Executable) => 0o777,
        Some(Mode::Regular) if on_disk => content.mode & !0o111,
        Some(Mode::Regular) => 0o666,
        Some(Mode::Submodule) | None => content.mode,
    };
    Ok(Now::File(Content { mode, ..content }))
}

/// Whether the link `path` to `target` leads to a place inside the root.
fn stays_inside(source: &dyn Source, path: &RelPath, target: &[u8]) -> Result<(), Refusal> {
    if target.is_empty() || target.contains(&b'\n') || target.contains(&0) {
        return Err(Refusal::new(Code::NotRegular, "the target of a link is one line without NUL bytes"));
    }
    let folder = path.parent().filter(|folder| !folder.is_root());
    let written = match folder {
        Some(folder) if !target.starts_with(b"/") => {
            bstr::concat([folder.as_bstr().as_bytes(), b"/", target])
        }
        _ => target.to_vec(),
    };
    let written = BatchPath { written: BString::from(written), base: PathBase::Top };
    let leads = |refusal: Refusal| Refusal {
        message: format!("the link {path} leads to {}: {}", target.as_bstr(), refusal.message),
        ..refusal
    };
    source.resolve(&written, LastLink::Follow).map(drop).map_err(leads)
}
