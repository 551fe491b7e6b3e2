//! Builds the book into `target/book`.

#![forbid(unsafe_code)]

fn main() -> Result<(), mdbook_driver::errors::Error> {
    let root = atoms_book::root().canonicalize()?;
    atoms_book::build(&root.join("docs"), &root.join("target/book"))
}
