//! Files whose paths fit a pattern, the last modified first, equally old ones by path.

use super::walk::{Filter, Ground, walk};
use crate::edit::RelPath;
use crate::plan::Pattern;
use std::cmp::Reverse;
use std::time::SystemTime;

/// The files below the start whose paths from there fit, and what could not be looked at.
pub fn glob(ground: &Ground<'_>, pattern: &Pattern) -> (Vec<RelPath>, Vec<String>) {
    let skip = if ground.start.is_root() { 0 } else { ground.start.as_bstr().len() + 1 };
    let (mut found, faults) = walk(ground, &Filter::all(), &|path, entry| {
        let inside = RelPath::new(path.as_bstr().get(skip..)?).ok()?;
        let fits = pattern.fits(&inside.to_path());
        fits.then(|| (entry.metadata().and_then(|m| m.modified().map_err(Into::into)).ok(), path))
    });
    found.sort_by(|a, b| order(a).cmp(&order(b)));
    (found.into_iter().map(|(_, path)| path).collect(), faults)
}

fn order((modified, path): &(Option<SystemTime>, RelPath)) -> (Reverse<Option<SystemTime>>, &RelPath) {
    (Reverse(*modified), path)
}
