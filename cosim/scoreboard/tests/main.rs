mod bench;
mod bounds;
mod planted;
mod random;
