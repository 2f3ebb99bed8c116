//! Finding a sequence in a sequence, overlapping places counted, in linear time on any input.

use super::tally;
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
    tally::count(hay.len() + needle.len());
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
    tally::count(hay.len() + needle.len());
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

/// Something that stands in one of several places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'p> {
    /// Where it may begin, ascending.
    pub starts: &'p [usize],
    /// How far behind its beginning the part begins that must not meet another piece's.
    pub skip: usize,
    /// How long that part is.
    pub len: usize,
}

/// The one way to choose a start for each piece so that their parts follow one another without overlap; `None` when
/// there is no way or more than one.
///
/// The earliest way and the latest one bound all others, so that these two tell whether there are more. Each place is
/// found by halving: the time does not depend on how many there are.
pub(super) fn only_order(pieces: &[Piece<'_>]) -> Option<Vec<usize>> {
    let (mut earliest, mut free) = (Vec::with_capacity(pieces.len()), 0);
    for piece in pieces {
        let at = piece.starts.partition_point(|start| start + piece.skip < free);
        let start = *piece.starts.get(at)?;
        earliest.push(start);
        free = start + piece.skip + piece.len;
    }
    let mut free = usize::MAX;
    for (piece, early) in pieces.iter().zip(&earliest).rev() {
        let count = piece.starts.partition_point(|start| start + piece.skip + piece.len <= free);
        let late = piece.starts[count.checked_sub(1)?];
        if late != *early {
            return None;
        }
        free = late + piece.skip;
    }
    (!pieces.is_empty()).then_some(earliest)
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
        tally::count(seeds.len() * wanted.len());
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

    fn pieces<'p>(starts: &'p [Vec<usize>], lengths: &[usize]) -> Vec<Piece<'p>> {
        let piece = |(starts, len): (&'p Vec<usize>, &usize)| Piece { starts, skip: 0, len: *len };
        starts.iter().zip(lengths).map(piece).collect()
    }

    /// Every way to choose.
    fn ways(pieces: &[Piece<'_>], free: usize) -> Vec<Vec<usize>> {
        let Some((first, rest)) = pieces.split_first() else { return vec![Vec::new()] };
        let starts = first.starts.iter().filter(|start| **start + first.skip >= free);
        let then = |start: &usize| {
            let after = ways(rest, start + first.skip + first.len).into_iter();
            after.map(|way| [vec![*start], way].concat()).collect::<Vec<_>>()
        };
        starts.flat_map(then).collect()
    }

    proptest! {
        #[test]
        fn an_order_is_chosen_when_it_is_the_only_one(
            places in proptest::collection::vec((proptest::collection::btree_set(0usize..12, 0..4), 0usize..3, 0usize..3), 1..5),
        ) {
            let starts: Vec<Vec<usize>> = places.iter().map(|(s, ..)| s.iter().copied().collect()).collect();
            let sizes = starts.iter().zip(&places);
            let pieces: Vec<_> = sizes.map(|(starts, (_, skip, len))| Piece { starts, skip: *skip, len: *len }).collect();
            let ways = ways(&pieces, 0);
            prop_assert_eq!(only_order(&pieces), (ways.len() == 1).then(|| ways[0].clone()));
        }
    }

    #[test]
    fn an_order_must_be_the_only_one() {
        let order = |starts: &[Vec<usize>]| only_order(&pieces(starts, &[2, 1]));
        assert_eq!(order(&[vec![0, 9], vec![4]]), Some(vec![0, 4]));
        assert_eq!(order(&[vec![0, 2], vec![4]]), None, "two ways");
        assert_eq!(order(&[vec![5], vec![4]]), None, "no way");
        assert_eq!(order(&[vec![0], vec![1, 2]]), Some(vec![0, 2]), "no overlap");
    }

    #[test]
    fn kept_places_are_bounded_and_the_rest_counted() {
        let hits = substrings(b"aaaaaa", b"aa", 2);
        assert_eq!((hits.starts.len(), hits.total), (2, 5));
    }
}
