//! What `scripts/cost` compares with: rewrites each file named on standard input with its own bytes, and nothing else.
//!
//! `plain in-place` truncates and writes it; `plain rename` writes a temporary file beside it and renames that over it.
//! Nothing is parsed, compared or synced.

use std::fs;
use std::io::{self, BufRead};
use std::path::Path;

fn main() -> io::Result<()> {
    let way = std::env::args().nth(1).unwrap_or_default();
    let write: fn(&Path, &[u8]) -> io::Result<()> = match way.as_str() {
        "in-place" => |path, bytes| fs::write(path, bytes),
        "rename" => |path, bytes| {
            let temporary = path.with_extension("plain-temporary");
            fs::write(&temporary, bytes)?;
            fs::rename(temporary, path)
        },
        _ => return Err(io::Error::other("usage: plain in-place|rename < FILES")),
    };
    for line in io::stdin().lock().lines() {
        let line = line?;
        let path = Path::new(&line);
        write(path, &fs::read(path)?)?;
    }
    Ok(())
}
