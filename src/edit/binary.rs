//! The change of a binary file as a git diff carries it: decoded by `diffy`, checked in both directions.

use super::Text;
use diffy::patch_set::{ParseOptions, PatchSet};

/// What a diff says about a binary file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BinaryChange {
    /// A `GIT binary patch` section, from that line on.
    Patch(Text),
    /// Only that the file differs.
    Untold,
}

/// Why a binary change cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BinaryError {
    /// The diff was made without the bytes.
    #[error("the diff says that the binary file differs, but does not hold its bytes")]
    Untold,
    /// The section cannot be decoded.
    #[error("the binary section cannot be decoded: {0}")]
    Broken(String),
    /// The file is not the one that the section was made for.
    #[error("the file is not the one that the binary section was made for")]
    OtherFile,
}

impl BinaryChange {
    /// The file after the change of `old`.
    ///
    /// # Errors
    /// [`BinaryError`]; among them a file from which the section's way back does not lead to `old` again.
    pub fn apply(&self, old: &[u8]) -> Result<Vec<u8>, BinaryError> {
        let Self::Patch(section) = self else {
            return Err(BinaryError::Untold);
        };
        let broken = |error: &dyn std::fmt::Display| BinaryError::Broken(error.to_string());
        let text = format!("diff --git a/f b/f\n{}\n", &**section);
        let parsed = PatchSet::parse_bytes(text.as_bytes(), ParseOptions::gitdiff()).next();
        let file = parsed.ok_or_else(|| broken(&"it is empty"))?.map_err(|e| broken(&e))?;
        let patch = file.patch().as_binary().ok_or_else(|| broken(&"it is no binary section"))?;
        // A delta knows its source by length only, a literal not at all: the way back tells whether it is this file.
        let new = patch.apply(old);
        let back = new.as_ref().ok().map(|new| patch.apply_reverse(new));
        match (new, back) {
            (Ok(new), Some(Ok(back))) if back == old => Ok(new),
            (Err(error), _) | (_, Some(Err(error))) if self.is_literal() => Err(broken(&error)),
            _ => Err(BinaryError::OtherFile),
        }
    }

    /// Whether no direction depends on the file.
    fn is_literal(&self) -> bool {
        matches!(self, Self::Patch(section) if !section.lines().any(|line| line.starts_with("delta ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // As git writes it.
    const SECTION: &str =
        "GIT binary patch\nliteral 9\nQcmeAS@N;MQ|Bsmk01_qxa{vGU\n\nliteral 8\nPcmeAS@N;KiWMT#Y3Bdt%\n\n";
    const OLD: &[u8] = b"\x89PNG\x00\x01\x02\x03";

    #[test]
    fn a_section_fits_one_file_only() {
        let change = BinaryChange::Patch(SECTION.into());
        assert_eq!(change.apply(OLD).as_deref(), Ok(&b"\x89PNG\x00\xff\xfe\x03\x04"[..]));
        assert_eq!(change.apply(b"other"), Err(BinaryError::OtherFile));
        assert_eq!(BinaryChange::Untold.apply(OLD), Err(BinaryError::Untold));
    }

    #[test]
    fn broken_sections_are_told() {
        for broken in
            ["", "GIT binary patch\n", "GIT binary patch\nliteral 9\nQcmeAS\n\n", &SECTION.replace('Q', "!")]
        {
            let found = BinaryChange::Patch(broken.into()).apply(OLD);
            assert!(matches!(found, Err(BinaryError::Broken(_))), "{broken:?}: {found:?}");
        }
    }
}
