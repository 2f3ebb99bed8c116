//! The stable codes of refusals and warnings (matching.md, cli.md).

use bstr::BString;
use std::fmt;

macro_rules! codes {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The code as programs read it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

codes! {
    /// Why a batch, an entry or a hunk was refused, or a run failed.
    Code {
        /// The old text stands nowhere in the file.
        NoMatch = "no-match",
        /// The old text stands in more than one place.
        Ambiguous = "ambiguous",
        /// An `@@` anchor names a line that is not there.
        AnchorNotFound = "anchor-not-found",
        /// The indent of an added line is not determined by the lines around it.
        IndentUncertain = "indent-uncertain",
        /// The old text says too little for the pass that finds it.
        LowEvidence = "low-evidence",
        /// Two hunks of one step change the same lines.
        Overlap = "overlap",
        /// A line number lies outside the file.
        Range = "range",
        /// The file is not the version that the entry names.
        Stale = "stale",
        /// The old text is gone and the new text already stands in its place.
        AlreadyApplied = "already-applied",
        /// The file does not exist.
        Missing = "missing",
        /// The destination exists already.
        Exists = "exists",
        /// The file is binary, or not UTF-8 and without an exact match.
        NotText = "not-text",
        /// The target is a directory, or anything else that is no regular file.
        NotRegular = "not-regular",
        /// The file is read-only.
        ReadOnly = "read-only",
        /// The path leads out of the root.
        OutsideRoot = "outside-root",
        /// The path belongs to git or to another repository.
        ProtectedPath = "protected-path",
        /// Somebody else changed the file during the run.
        ChangedDuring = "changed-during",
        /// Another patchmany, or git, holds a lock that is needed.
        Locked = "locked",
        /// The batch does not parse.
        Parse = "parse",
        /// The command line, or a request of the batch, makes no sense.
        Usage = "usage",
        /// The form that a batch is to be converted to cannot say an entry.
        Unsupported = "unsupported",
        /// An operation of the file system failed.
        Io = "io",
        /// An operation of git, a hook or a signer failed.
        Git = "git",
        /// The command that had to succeed first failed.
        Test = "test",
    }
}

codes! {
    /// What a person should know although the batch landed.
    WarningCode {
        /// Removing text left an empty line behind.
        EmptyLineLeft = "empty-line-left",
        /// A hunk without old text was put at the end of the file.
        AppendEof = "append-eof",
        /// A hunk marked "end of file" stands elsewhere, uniquely.
        EofNotAtEnd = "eof-not-at-end",
        /// The lines have other indents than in the batch, and added ones were given such.
        IndentMapped = "indent-mapped",
        /// Outer blank lines of a hunk stand nowhere and were left out.
        EdgeBlankDropped = "edge-blank-dropped",
        /// Every added line begins with a number that counts up, as a display shows them.
        NumberedText = "numbered-text",
        /// Hunks stand in another order than in the batch.
        OutOfOrder = "out-of-order",
        /// Equal lines stand elsewhere too; an anchor, a number or the other hunks chose the place.
        Twins = "twins",
        /// The counts of a hunk header do not fit its body.
        CountsIgnored = "counts-ignored",
        /// An entry has a key that means nothing here.
        UnknownKey = "unknown-key",
        /// A number or truth value of an entry is written as a string.
        StringArgs = "string-args",
        /// The version is named by a short tag of other tools.
        WeakTag = "weak-tag",
        /// New lines repeat those beside them, or leave a bracket open or closed that was not.
        BoundaryEcho = "boundary-echo",
        /// Replacing the file separates it from its other hard links.
        HardLink = "hard-link",
        /// The file ran as another user or group; new text takes that away, as a write does.
        SetuidDropped = "setuid-dropped",
        /// The path is a symbolic link; the file it names was edited.
        ViaSymlink = "via-symlink",
        /// An interrupted run was rolled back or finished first.
        Recovered = "recovered",
        /// The entry was written for an earlier version, and is merged with what has changed since.
        Merged = "merged",
        /// The edit added or removed the byte order mark.
        BomChanged = "bom-changed",
        /// The files are undone; the commit or stash entry that recorded them stays.
        RecordStays = "record-stays",
        /// The repository's configuration names a command, which is not obeyed.
        ConfigIgnored = "config-ignored",
    }
}

/// Something a person should know although the batch lands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    /// Its kind.
    pub code: WarningCode,
    /// The path it is about, canonical or as written.
    pub path: Option<BString>,
    /// In words.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_kebab_case() {
        let mut seen = std::collections::HashSet::new();
        let all = Code::ALL.iter().map(|c| c.as_str()).chain(WarningCode::ALL.iter().map(|c| c.as_str()));
        for text in all {
            assert!(seen.insert(text), "{text} stands twice");
            assert!(text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{text}");
        }
    }
}
