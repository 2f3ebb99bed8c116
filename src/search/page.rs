//! Which of many results are shown: so many from one on.

use super::grep::Hits;

/// A part of a list of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Results that are skipped.
    pub offset: usize,
    /// Results that are shown; `None` shows all.
    pub head: Option<usize>,
}

impl Page {
    /// The results that have to be known: those shown, those before them, and one more to know that there are more.
    pub fn needs(&self) -> usize {
        self.head.map_or(usize::MAX, |head| self.offset.saturating_add(head).saturating_add(1))
    }

    /// Whether result `index`, from 0, is shown.
    pub fn shows(&self, index: usize) -> bool {
        index >= self.offset && self.head.is_none_or(|head| index - self.offset < head)
    }

    /// Takes the results of `list` that are not shown away; whether some come after those that are.
    pub fn cut<T>(&self, list: &mut Vec<T>) -> bool {
        list.drain(..self.offset.min(list.len()));
        let more = self.head.is_some_and(|head| list.len() > head);
        list.truncate(self.head.unwrap_or(usize::MAX));
        more
    }

    /// Takes the rows away that are not shown, `seen` lines having matched before; lines around a match go with it.
    pub fn cut_rows(&self, hits: &mut Hits, seen: usize, (before, after): (usize, usize)) {
        let matching = hits.rows.iter().filter(|row| row.matches);
        let shown: Vec<usize> =
            (seen..).zip(matching).filter(|(i, _)| self.shows(*i)).map(|(_, row)| row.row.line).collect();
        hits.rows.retain(|row| {
            let line = row.row.line;
            let at = shown.partition_point(|&shown| shown < line);
            let next = shown.get(at).is_some_and(|&next| next - line <= before);
            let last = at.checked_sub(1).is_some_and(|last| line - shown[last] <= after);
            if row.matches { shown.get(at) == Some(&line) } else { next || last }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::excerpt::Row;
    use super::super::grep::HitRow;
    use super::*;

    #[test]
    fn a_part_of_a_list() {
        let check = |offset, head, shown: &[usize], more| {
            let mut list = vec![0, 1, 2, 3];
            let page = Page { offset, head };
            assert_eq!((page.cut(&mut list), &list[..]), (more, shown));
            assert!((0..4).all(|i| page.shows(i) == shown.contains(&i)));
        };
        check(0, None, &[0, 1, 2, 3], false);
        check(1, Some(2), &[1, 2], true);
        check(2, Some(2), &[2, 3], false);
        check(9, Some(1), &[], false);
    }

    #[test]
    fn lines_around_go_with_their_match() {
        let row = |(line, matches)| HitRow { row: Row { line, text: "".into(), cut: 0 }, matches };
        let rows = [(1, false), (2, true), (3, false), (4, false), (5, true), (6, true), (7, false)];
        let check = |offset, head, seen, shown: &[usize]| {
            let mut hits = Hits { count: 3, rows: rows.map(row).to_vec() };
            Page { offset, head: Some(head) }.cut_rows(&mut hits, seen, (1, 1));
            assert_eq!(hits.rows.iter().map(|row| row.row.line).collect::<Vec<_>>(), shown);
        };
        check(0, 3, 0, &[1, 2, 3, 4, 5, 6, 7]);
        check(1, 1, 0, &[4, 5]);
        check(0, 1, 0, &[1, 2, 3]);
        check(12, 9, 10, &[6, 7]);
    }
}
