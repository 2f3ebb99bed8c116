//! How much a text says: too little of it is no reason to place a hunk by a loose pass.

/// The letters, digits and underscores of `rows` (matching.md, word character).
pub(super) fn word_characters(rows: &[&str]) -> usize {
    rows.iter().flat_map(|row| row.chars()).filter(|c| c.is_alphanumeric() || *c == '_').count()
}
