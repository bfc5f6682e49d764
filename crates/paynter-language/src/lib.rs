//! The model language: text to a lossless tree, to plain syntax, and back to
//! well laid-out text. Parsing never fails: it returns a tree and diagnostics.

pub mod ast;
