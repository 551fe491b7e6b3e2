//! Lockstep, inside signals, minimizing and cause ranking, on the model and on built RTL.

mod causes;
mod inside;
mod lockstep;
mod minimizing;
