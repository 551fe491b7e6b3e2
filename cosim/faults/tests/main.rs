//! Mutants, schemata, cause ranking, and minimizing of the failures that they cause.

mod causes;
mod minimizing;
mod mutants;
mod schemata;
