//! Mutants, alterations woven into RTL, cause ranking, and minimizing of the failures that they cause.

mod causes;
mod minimizing;
mod mutants;
mod weave;
