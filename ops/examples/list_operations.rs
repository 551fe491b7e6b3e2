//! Lists the operations: port code, name, legal sizes, and effect on the memory word `M`.

#![allow(clippy::print_stdout)] // a program for interactive use

use atoms_ops::{OPS, Size};

fn main() {
    for row in OPS {
        let sizes: Vec<_> = row.sizes.iter().copied().map(Size::name).collect();
        println!("{:2}  {:28} {:27} {}", row.op as u8, row.name, sizes.join(" "), row.effect);
    }
}
