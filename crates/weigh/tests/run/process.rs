//! Worker processes that misbehave, and the promise that none outlives the lab.
