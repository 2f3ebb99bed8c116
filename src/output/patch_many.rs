//! JSON of `{"path", "patch"}` with ORIGINAL/UPDATED blocks.

use super::entry::{PatchEntry, json};
use super::{Printed, each, gptme, no_mode, path, tag};
use crate::edit::FileOperation;

pub(super) fn print(operations: &[FileOperation]) -> Printed {
    let entries = each(operations, |operation| {
        no_mode(operation)?;
        let (path, patch) = (path(&operation.path)?.to_owned(), gptme::blocks(operation)?);
        Ok(PatchEntry { path, patch, tag: tag(&operation.expects)?.map(str::to_owned) })
    })?;
    Ok(json(&entries))
}
