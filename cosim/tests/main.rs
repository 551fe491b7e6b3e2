//! Lockstep, inside signals and cause ranking, on the model and on built RTL.

mod causes;
mod inside;
mod lockstep;
