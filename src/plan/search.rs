//! Finding a sequence in a sequence, overlapping places counted, in linear time on any input.

use std::borrow::Cow;
use std::collections::HashMap;

/// Places as start offsets in ascending order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Hits {
    /// The first places, at most as many as were asked for.
    pub starts: Vec<usize>,
    /// How many there are.
    pub total: usize,
}

/// Where `needle` (not empty) stands in `hay`; overlapping places count. At most `most` starts are kept.
pub(super) fn substrings(hay: &[u8], needle: &[u8], most: usize) -> Hits {
    let finder = memchr::memmem::Finder::new(needle);
    let Some(first) = finder.find(hay) else {
        return Hits::default();
    };
    if finder.find(&hay[first + 1..]).is_none() {
        return Hits { starts: vec![first], total: 1 };
    }
    occurrences(hay, needle, most)
}

/// Where `needle` stands in `hay` without overlaps, from the left.
pub(super) fn disjoint_substrings(hay: &[u8], needle: &[u8]) -> Vec<usize> {
    memchr::memmem::find_iter(hay, needle).collect()
}

/// Knuth, Morris and Pratt: each element of `hay` is looked at a bounded number of times.
fn occurrences<T: PartialEq>(hay: &[T], needle: &[T], most: usize) -> Hits {
    let fallback = prefix_function(needle);
    let mut hits = Hits::default();
    let mut matched = 0;
    for (at, item) in hay.iter().enumerate() {
        while matched > 0 && (matched == needle.len() || needle[matched] != *item) {
            matched = fallback[matched - 1];
        }
        if needle[matched] == *item {
            matched += 1;
        }
        if matched == needle.len() {
            hits.total += 1;
            if hits.starts.len() < most {
                hits.starts.push(at + 1 - matched);
            }
        }
    }
    hits
}

fn prefix_function<T: PartialEq>(needle: &[T]) -> Vec<usize> {
    let mut table = vec![0; needle.len()];
    let mut matched = 0;
    for at in 1..needle.len() {
        while matched > 0 && needle[matched] != needle[at] {
            matched = table[matched - 1];
        }
        if needle[matched] == needle[at] {
            matched += 1;
        }
        table[at] = matched;
    }
    table
}

/// The one way to choose a start from each list so that the chosen pieces, `lengths` long, follow one another without
/// overlap; `None` when there is no way or more than one. Lists ascend.
pub(super) fn only_order(starts: &[Vec<usize>], lengths: &[usize]) -> Option<Vec<usize>> {
    // For each start: the number of ways to get there (2 stands for more), and the start before it.
    let mut ways: Vec<Vec<(u8, usize)>> = Vec::with_capacity(starts.len());
    for (piece, here) in starts.iter().enumerate() {
        let Some(before) = piece.checked_sub(1) else {
            ways.push(here.iter().map(|_| (1, 0)).collect());
            continue;
        };
        let (mut next, mut sum, mut last) = (0, 0u8, 0);
        let row = here.iter().map(|&start| {
            while starts[before].get(next).is_some_and(|s| s + lengths[before] <= start) {
                if ways[before][next].0 > 0 {
                    sum = (sum + ways[before][next].0).min(2);
                    last = next;
                }
                next += 1;
            }
            (sum, last)
        });
        let row = row.collect();
        ways.push(row);
    }
    let end = ways.last()?;
    if end.iter().fold(0, |sum, (n, _)| (sum + n).min(2)) != 1 {
        return None;
    }
    let mut at = end.iter().position(|(n, _)| *n == 1)?;
    let mut chosen = vec![0; starts.len()];
    for piece in (0..starts.len()).rev() {
        chosen[piece] = starts[piece][at];
        at = ways[piece][at].1;
    }
    Some(chosen)
}

/// An index of a file's lines under one equality: built once, asked for many hunks.
#[derive(Debug)]
pub(super) struct LineIndex<'a> {
    /// The class of each line; equal lines share a class.
    classes: Vec<u32>,
    by_key: HashMap<Cow<'a, [u8]>, u32>,
    /// All lines of a class, ascending.
    lines: Vec<Vec<usize>>,
}

impl<'a> LineIndex<'a> {
    /// Classes `lines` by their keys.
    pub(super) fn new(lines: impl Iterator<Item = Cow<'a, [u8]>>) -> Self {
        let mut index = Self { classes: Vec::new(), by_key: HashMap::new(), lines: Vec::new() };
        for (line, key) in lines.enumerate() {
            let class = match index.by_key.get(&*key) {
                Some(&class) => class,
                None => index.add_class(key),
            };
            index.classes.push(class);
            index.lines[class as usize].push(line);
        }
        index
    }

    fn add_class(&mut self, key: Cow<'a, [u8]>) -> u32 {
        // A text has at most as many classes as bytes; files of 4 GiB of different lines do not fit in memory here.
        let class = u32::try_from(self.lines.len()).unwrap_or(u32::MAX);
        self.by_key.insert(key, class);
        self.lines.push(Vec::new());
        class
    }

    /// All lines whose key is `key`.
    pub(super) fn lines_of(&self, key: &[u8]) -> &[usize] {
        self.by_key.get(key).map_or(&[], |&class| &self.lines[class as usize])
    }

    /// Where the rows (keys, not empty) stand one after the other: first lines, ascending.
    pub(super) fn find<K: AsRef<[u8]>>(&self, rows: &[K]) -> Vec<usize> {
        let wanted: Option<Vec<u32>> = rows.iter().map(|r| self.by_key.get(r.as_ref()).copied()).collect();
        let Some(wanted) = wanted.filter(|w| !w.is_empty() && w.len() <= self.classes.len()) else {
            return Vec::new();
        };
        let (rarest, class) = wanted
            .iter()
            .enumerate()
            .min_by_key(|(_, class)| self.lines[**class as usize].len())
            .map_or((0, 0), |(row, class)| (row, *class));
        let seeds = &self.lines[class as usize];
        if seeds.len().saturating_mul(wanted.len()) > 4 * self.classes.len() {
            return occurrences(&self.classes, &wanted, usize::MAX).starts;
        }
        let starts = seeds.iter().filter_map(|line| line.checked_sub(rarest));
        starts.filter(|&s| self.classes.get(s..s + wanted.len()) == Some(&wanted[..])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn by_hand<T: PartialEq>(hay: &[T], needle: &[T]) -> Vec<usize> {
        (0..hay.len()).filter(|&i| hay[i..].starts_with(needle)).collect()
    }

    proptest! {
        #[test]
        fn substrings_are_all_found(hay in "[ab]{0,60}", needle in "[ab]{1,6}") {
            let hits = substrings(hay.as_bytes(), needle.as_bytes(), usize::MAX);
            prop_assert_eq!(&hits.starts, &by_hand(hay.as_bytes(), needle.as_bytes()));
            prop_assert_eq!(hits.total, hits.starts.len());
        }

        #[test]
        fn rows_are_all_found(hay in proptest::collection::vec("[ab]", 0..60), rows in proptest::collection::vec("[abc]", 1..6)) {
            let index = LineIndex::new(hay.iter().map(|l| Cow::Borrowed(l.as_bytes())));
            prop_assert_eq!(index.find(&rows), by_hand(&hay, &rows));
        }
    }

    #[test]
    fn an_order_must_be_the_only_one() {
        assert_eq!(only_order(&[vec![0, 9], vec![4]], &[2, 1]), Some(vec![0, 4]));
        assert_eq!(only_order(&[vec![0, 2], vec![4]], &[2, 1]), None, "two ways");
        assert_eq!(only_order(&[vec![5], vec![4]], &[2, 1]), None, "no way");
        assert_eq!(only_order(&[vec![0], vec![1, 2]], &[2, 1]), Some(vec![0, 2]), "no overlap");
    }

    #[test]
    fn kept_places_are_bounded_and_the_rest_counted() {
        let hits = substrings(b"aaaaaa", b"aa", 2);
        assert_eq!((hits.starts.len(), hits.total), (2, 5));
    }
}
