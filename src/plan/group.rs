//! Which entries depend on each other: those whose paths are the same, or one inside the other.

use crate::edit::RelPath;
use std::collections::HashMap;

/// Groups entries by the canonical paths they touch. Groups are in the order of their first entry, entries within a
/// group in batch order.
pub(super) fn groups(touched: &[Vec<&RelPath>]) -> Vec<Vec<usize>> {
    let mut sets = Sets::new(touched.len());
    let mut owner: HashMap<&RelPath, usize> = HashMap::new();
    for (entry, paths) in touched.iter().enumerate() {
        for path in paths {
            let first = *owner.entry(path).or_insert(entry);
            sets.join(first, entry);
        }
    }
    for (path, entry) in &owner {
        let mut above = path.parent();
        while let Some(folder) = above.filter(|f| !f.is_root()) {
            if let Some(other) = owner.get(&folder) {
                sets.join(*entry, *other);
            }
            above = folder.parent();
        }
    }
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut at: HashMap<usize, usize> = HashMap::new();
    for entry in 0..touched.len() {
        let set = sets.find(entry);
        let group = *at.entry(set).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[group].push(entry);
    }
    groups
}

/// Disjoint sets of entries; the smallest entry stands for its set.
struct Sets(Vec<usize>);

impl Sets {
    fn new(n: usize) -> Self {
        Self((0..n).collect())
    }

    fn find(&mut self, mut at: usize) -> usize {
        while self.0[at] != at {
            self.0[at] = self.0[self.0[at]];
            at = self.0[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_paths_moves_and_folders_belong_together() {
        let paths = ["a", "b", "a", "d", "d/x", "e", "d/x/y"].map(|p| RelPath::new(p).expect("good"));
        let b_to_a = vec![&paths[1], &paths[5]];
        let touched: Vec<Vec<&RelPath>> =
            vec![vec![&paths[0]], b_to_a, vec![&paths[2]], vec![&paths[3]], vec![&paths[5]], vec![&paths[6]]];
        assert_eq!(groups(&touched), [vec![0, 2], vec![1, 4], vec![3, 5]]);
    }
}
