//! The names that git gives to contents, without a look at what it stores.

use super::Repo;
use gix::hash::Kind;
use gix::objs;

/// How objects are named: by SHA-1, or by SHA-256 in a repository that says so.
#[derive(Clone, Copy, Debug)]
pub struct Naming(Kind);

impl Default for Naming {
    fn default() -> Self {
        Self(Kind::Sha1)
    }
}

impl Naming {
    /// As `repo` names them.
    pub fn of(repo: &Repo) -> Self {
        Self(repo.local().object_hash())
    }

    /// The name of a blob of these bytes, in hex.
    pub fn blob(self, bytes: &[u8]) -> String {
        let id = objs::compute_hash(self.0, objs::Kind::Blob, bytes);
        id.unwrap_or_else(|_| self.0.null()).to_string()
    }

    /// What stands for a file that is not there.
    pub fn nothing(self) -> String {
        self.0.null().to_string()
    }
}
