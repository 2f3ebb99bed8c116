//! What two texts have in common at their ends, in bytes.

/// Bytes compared at once: large pieces first, then what is left of the piece that differs.
const STEPS: [usize; 4] = [4096, 256, 16, 1];

/// Bytes that two texts have in common at their starts.
pub(crate) fn common_prefix(old: &[u8], new: &[u8]) -> usize {
    let mut at = 0;
    for size in STEPS {
        let pairs = old[at..].chunks_exact(size).zip(new[at..].chunks_exact(size));
        at += pairs.take_while(|(a, b)| a == b).count() * size;
    }
    at
}

/// The same at their ends.
pub(crate) fn common_suffix(old: &[u8], new: &[u8]) -> usize {
    let mut end = 0;
    for size in STEPS {
        let (old, new) = (&old[..old.len() - end], &new[..new.len() - end]);
        let pairs = old.rchunks_exact(size).zip(new.rchunks_exact(size));
        end += pairs.take_while(|(a, b)| a == b).count() * size;
    }
    end
}
