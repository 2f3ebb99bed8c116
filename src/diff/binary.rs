//! The change of a binary file as git writes it into a diff: both versions whole, compressed, in base 85.

/// Bytes in one line.
const WIDTH: usize = 52;
const DIGITS: &[u8; 85] =
    b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";

/// The section that turns `old` into `new`, and back.
pub(super) fn section(old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut out = b"GIT binary patch\n".to_vec();
    literal(&mut out, new);
    literal(&mut out, old);
    out
}

fn literal(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(format!("literal {}\n", bytes.len()).as_bytes());
    let mut room = vec![0; zlib_rs::compress_bound(bytes.len())];
    let (compressed, _) = zlib_rs::compress_slice(&mut room, bytes, zlib_rs::DeflateConfig::default());
    for row in compressed.chunks(WIDTH) {
        // `A` to `Z` and `a` to `z` stand for 1 to 52 bytes.
        let length = u8::try_from(row.len()).unwrap_or_default();
        out.push(if length <= 26 { b'A' + length - 1 } else { b'a' + length - 27 });
        row.chunks(4).for_each(|group| out.extend(digits(group)));
        out.push(b'\n');
    }
    out.push(b'\n');
}

/// Up to four bytes, filled up with zeros, as five digits.
fn digits(group: &[u8]) -> [u8; 5] {
    let mut number = [0; 4];
    number[..group.len()].copy_from_slice(group);
    let mut rest = u32::from_be_bytes(number);
    let mut digits = [0; 5];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS[(rest % 85) as usize];
        rest /= 85;
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit::{BinaryChange, Text};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sections_are_read_again(old in prop::collection::vec(any::<u8>(), 0..200), new in "[a-c\\x00]{0,300}") {
            let text = String::from_utf8(section(&old, new.as_bytes())).expect("ASCII");
            let change = BinaryChange::Patch(Text::from(text));
            prop_assert_eq!(change.apply(&old), Ok(new.into_bytes()));
        }
    }
}
