#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| patchmany_fuzz::run(Some(patchmany::edit::Format::Hashline), bytes));
