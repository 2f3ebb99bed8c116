//! Line ranges behind a path, as in `src/a.rs:10-20,40`: inclusive, from 1. Whether the path exists is not its business.

use bstr::{BStr, ByteSlice};

/// Lines from `first` to `last`, inclusive, from 1; without `last` to the end of the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Range {
    /// The first line.
    pub first: usize,
    /// The last line; may lie behind the end of the file.
    pub last: Option<usize>,
}

impl Range {
    /// Reads `A-B`, `A-` or `A`.
    fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| -> Option<usize> {
            text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
        };
        match text.split_once('-') {
            None => number(text).map(|line| Self { first: line, last: Some(line) }),
            Some((first, "")) => Some(Self { first: number(first)?, last: None }),
            Some((first, last)) => Some(Self { first: number(first)?, last: Some(number(last)?) }),
        }
    }
}

/// Splits `PATH:RANGE[,RANGE]…`; `None` when the part after the last colon is no list of ranges.
pub fn split_ranges(written: &BStr) -> Option<(&BStr, Vec<Range>)> {
    let (path, ranges) = written.rsplit_once_str(":")?;
    let ranges = ranges.to_str().ok()?.split(',').map(Range::parse).collect::<Option<_>>()?;
    (!path.is_empty()).then_some((path.as_bstr(), ranges))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(written: &str, path: &str, ranges: &[(usize, Option<usize>)]) {
        let ranges = ranges.iter().map(|&(first, last)| Range { first, last }).collect();
        assert_eq!(split_ranges(written.into()), Some((path.into(), ranges)), "{written}");
    }

    #[test]
    fn ranges_stand_behind_the_last_colon() {
        check("f:2-3", "f", &[(2, Some(3))]);
        check("f:2", "f", &[(2, Some(2))]);
        check("f:2-", "f", &[(2, None)]);
        check("a:b:7-9,1-2", "a:b", &[(7, Some(9)), (1, Some(2))]);
        for plain in ["f", "f:", "f:x", "f:-3", "f:1-2-3", "f:1,", ":1-2", "f:+1", "f:99999999999999999999"] {
            assert_eq!(split_ranges(plain.into()), None, "{plain}");
        }
    }
}
