mod bench;
mod planted;
mod random;
