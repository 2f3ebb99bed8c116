//! Characters that are taken for others or cannot be seen: their names (those of the Unicode standard), and what they
//! look like. Used to explain a refusal only: no edit is placed by what characters look like.

use std::borrow::Cow;

/// The name of a character that a display does not tell from others.
pub(super) fn name(c: char) -> Option<Cow<'static, str>> {
    if let '\u{ff01}'..='\u{ff5e}' = c {
        return Some(format!("fullwidth {}", like(c)?).into());
    }
    found(c).map(|(_, name, _)| (*name).into())
}

/// What is typed in its place; nothing for what has no width.
pub(super) fn like(c: char) -> Option<Cow<'static, str>> {
    if let '\u{ff01}'..='\u{ff5e}' = c {
        return char::from_u32(u32::from(c) - 0xfee0).map(|plain| plain.to_string().into());
    }
    found(c).map(|(_, _, like)| (*like).into())
}

fn found(c: char) -> Option<&'static (char, &'static str, &'static str)> {
    KNOWN.binary_search_by_key(&c, |(known, ..)| *known).ok().map(|at| &KNOWN[at])
}

/// In the order of their numbers.
const KNOWN: &[(char, &str, &str)] = &[
    ('\u{a0}', "no-break space", " "),
    ('\u{ab}', "left-pointing double angle quotation mark", "\""),
    ('\u{ad}', "soft hyphen", ""),
    ('\u{b4}', "acute accent", "'"),
    ('\u{b7}', "middle dot", "."),
    ('\u{bb}', "right-pointing double angle quotation mark", "\""),
    ('\u{d7}', "multiplication sign", "x"),
    ('\u{2bc}', "modifier letter apostrophe", "'"),
    ('\u{37e}', "Greek question mark", ";"),
    ('\u{391}', "Greek capital letter alpha", "A"),
    ('\u{392}', "Greek capital letter beta", "B"),
    ('\u{395}', "Greek capital letter epsilon", "E"),
    ('\u{396}', "Greek capital letter zeta", "Z"),
    ('\u{397}', "Greek capital letter eta", "H"),
    ('\u{399}', "Greek capital letter iota", "I"),
    ('\u{39a}', "Greek capital letter kappa", "K"),
    ('\u{39c}', "Greek capital letter mu", "M"),
    ('\u{39d}', "Greek capital letter nu", "N"),
    ('\u{39f}', "Greek capital letter omicron", "O"),
    ('\u{3a1}', "Greek capital letter rho", "P"),
    ('\u{3a4}', "Greek capital letter tau", "T"),
    ('\u{3a5}', "Greek capital letter upsilon", "Y"),
    ('\u{3a7}', "Greek capital letter chi", "X"),
    ('\u{3bd}', "Greek small letter nu", "v"),
    ('\u{3bf}', "Greek small letter omicron", "o"),
    ('\u{405}', "Cyrillic capital letter dze", "S"),
    ('\u{406}', "Cyrillic capital letter Byelorussian-Ukrainian i", "I"),
    ('\u{408}', "Cyrillic capital letter je", "J"),
    ('\u{410}', "Cyrillic capital letter a", "A"),
    ('\u{412}', "Cyrillic capital letter ve", "B"),
    ('\u{415}', "Cyrillic capital letter ie", "E"),
    ('\u{41a}', "Cyrillic capital letter ka", "K"),
    ('\u{41c}', "Cyrillic capital letter em", "M"),
    ('\u{41d}', "Cyrillic capital letter en", "H"),
    ('\u{41e}', "Cyrillic capital letter o", "O"),
    ('\u{420}', "Cyrillic capital letter er", "P"),
    ('\u{421}', "Cyrillic capital letter es", "C"),
    ('\u{422}', "Cyrillic capital letter te", "T"),
    ('\u{425}', "Cyrillic capital letter ha", "X"),
    ('\u{430}', "Cyrillic small letter a", "a"),
    ('\u{435}', "Cyrillic small letter ie", "e"),
    ('\u{43e}', "Cyrillic small letter o", "o"),
    ('\u{440}', "Cyrillic small letter er", "p"),
    ('\u{441}', "Cyrillic small letter es", "c"),
    ('\u{443}', "Cyrillic small letter u", "y"),
    ('\u{445}', "Cyrillic small letter ha", "x"),
    ('\u{455}', "Cyrillic small letter dze", "s"),
    ('\u{456}', "Cyrillic small letter Byelorussian-Ukrainian i", "i"),
    ('\u{458}', "Cyrillic small letter je", "j"),
    ('\u{1680}', "ogham space mark", " "),
    ('\u{180e}', "Mongolian vowel separator", ""),
    ('\u{2000}', "en quad", " "),
    ('\u{2001}', "em quad", " "),
    ('\u{2002}', "en space", " "),
    ('\u{2003}', "em space", " "),
    ('\u{2004}', "three-per-em space", " "),
    ('\u{2005}', "four-per-em space", " "),
    ('\u{2006}', "six-per-em space", " "),
    ('\u{2007}', "figure space", " "),
    ('\u{2008}', "punctuation space", " "),
    ('\u{2009}', "thin space", " "),
    ('\u{200a}', "hair space", " "),
    ('\u{200b}', "zero width space", ""),
    ('\u{200c}', "zero width non-joiner", ""),
    ('\u{200d}', "zero width joiner", ""),
    ('\u{200e}', "left-to-right mark", ""),
    ('\u{200f}', "right-to-left mark", ""),
    ('\u{2010}', "hyphen", "-"),
    ('\u{2011}', "non-breaking hyphen", "-"),
    ('\u{2012}', "figure dash", "-"),
    ('\u{2013}', "en dash", "-"),
    ('\u{2014}', "em dash", "-"),
    ('\u{2015}', "horizontal bar", "-"),
    ('\u{2018}', "left single quotation mark", "'"),
    ('\u{2019}', "right single quotation mark", "'"),
    ('\u{201a}', "single low-9 quotation mark", "'"),
    ('\u{201b}', "single high-reversed-9 quotation mark", "'"),
    ('\u{201c}', "left double quotation mark", "\""),
    ('\u{201d}', "right double quotation mark", "\""),
    ('\u{201e}', "double low-9 quotation mark", "\""),
    ('\u{201f}', "double high-reversed-9 quotation mark", "\""),
    ('\u{2022}', "bullet", "*"),
    ('\u{2024}', "one dot leader", "."),
    ('\u{2026}', "horizontal ellipsis", "..."),
    ('\u{2028}', "line separator", " "),
    ('\u{2029}', "paragraph separator", " "),
    ('\u{202a}', "left-to-right embedding", ""),
    ('\u{202b}', "right-to-left embedding", ""),
    ('\u{202c}', "pop directional formatting", ""),
    ('\u{202d}', "left-to-right override", ""),
    ('\u{202e}', "right-to-left override", ""),
    ('\u{202f}', "narrow no-break space", " "),
    ('\u{2032}', "prime", "'"),
    ('\u{2033}', "double prime", "\""),
    ('\u{2044}', "fraction slash", "/"),
    ('\u{205f}', "medium mathematical space", " "),
    ('\u{2060}', "word joiner", ""),
    ('\u{2066}', "left-to-right isolate", ""),
    ('\u{2067}', "right-to-left isolate", ""),
    ('\u{2068}', "first strong isolate", ""),
    ('\u{2069}', "pop directional isolate", ""),
    ('\u{2212}', "minus sign", "-"),
    ('\u{2215}', "division slash", "/"),
    ('\u{2217}', "asterisk operator", "*"),
    ('\u{2223}', "divides", "|"),
    ('\u{3000}', "ideographic space", " "),
    ('\u{fb01}', "Latin small ligature fi", "fi"),
    ('\u{fb02}', "Latin small ligature fl", "fl"),
    ('\u{fe0e}', "variation selector-15", ""),
    ('\u{fe0f}', "variation selector-16", ""),
    ('\u{fe58}', "small em dash", "-"),
    ('\u{fe63}', "small hyphen-minus", "-"),
    ('\u{feff}', "byte order mark", ""),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_order() {
        assert!(KNOWN.is_sorted_by(|(a, ..), (b, ..)| a < b));
    }

    #[test]
    fn characters_are_known_by_name_and_by_look() {
        assert_eq!(
            (name('\u{a0}').as_deref(), like('\u{a0}').as_deref()),
            (Some("no-break space"), Some(" "))
        );
        assert_eq!((name('（').as_deref(), like('（').as_deref()), (Some("fullwidth ("), Some("(")));
        assert_eq!(name('a'), None);
    }

    #[test]
    fn what_pass_unicode_equates_is_named_with_that_look() {
        for (c, name, like) in KNOWN {
            let folded = crate::plan::fold::fold(&c.to_string());
            assert!(folded == c.to_string() || folded == *like, "{name}");
        }
        for c in "‐–—―−﹘﹣－‘’‚‛′“”„‟″«»\u{a0}\u{2002}\u{200a}\u{202f}\u{205f}\u{3000}…".chars()
        {
            assert!(name(c).is_some(), "{c}");
        }
    }
}
