//! Verdicts of the scoreboard as exceptions.

use atoms_ops::Op;
use atoms_scoreboard::PortVerdict;
use pyo3::exceptions::{PyAssertionError, PyRuntimeError};
use pyo3::prelude::*;

pyo3::create_exception!(
    atoms,
    Rejected,
    PyAssertionError,
    "The unit breaks a clause of the specification.\n\n\
     Attributes: `clause`, such as `spec 4.5`; `about`, the part that is wrong; `port`, `number`, `tag`, `op` and\n\
     `accepted` of the request, None if the verdict is about no request; `cycle` of the event; `lanes`, lane 0 in\n\
     bit 0; `address`, `expected` and `got` of the first wrong lane, None if unknown."
);

pyo3::create_exception!(
    atoms,
    Undecided,
    PyRuntimeError,
    "The event cannot be judged: too many memories or orders are possible, or events came out of order."
);

/// Makes the exception of a verdict, with the fields of the verdict as attributes.
pub(crate) fn exception(python: Python<'_>, verdict: &PortVerdict) -> PyErr {
    let text = verdict.to_string();
    let (rejection, request) = (&verdict.rejection, verdict.request);
    let error = if rejection.is_undecided() { Undecided::new_err(text) } else { Rejected::new_err(text) };
    let values = rejection.wrong_values().copied().unwrap_or_default();
    let op = request.map(|request| Op::from_code(request.op).map_or("illegal".into(), |op| op.to_string()));
    let set = || {
        let value = error.value(python);
        value.setattr("clause", rejection.clause())?;
        value.setattr("about", rejection.about())?;
        value.setattr("cycle", verdict.cycle)?;
        value.setattr("lanes", verdict.lanes())?;
        value.setattr("address", values.address)?;
        value.setattr("expected", values.expected)?;
        value.setattr("got", values.got)?;
        value.setattr("port", request.map(|request| request.port.to_string()))?;
        value.setattr("number", request.map(|request| request.number))?;
        value.setattr("tag", request.map(|request| request.tag))?;
        value.setattr("op", op)?;
        value.setattr("accepted", request.map(|request| request.accepted))
    };
    match set() {
        Ok(()) => error,
        Err(other) => other,
    }
}
