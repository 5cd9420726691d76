//! A private instance in a thread of its own, which does one order after the other until nobody gives any more.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{Scope, ScopedJoinHandle};

use anyhow::{Result, anyhow};

/// One that runs. Dropping it ends it.
pub struct Side<'s, Order, Answer, End> {
    orders: Sender<Order>,
    answers: Receiver<Answer>,
    thread: ScopedJoinHandle<'s, Result<End>>,
}

/// The orders that come to it.
pub struct Orders<Order, Answer> {
    orders: Receiver<Order>,
    answers: Sender<Answer>,
}

impl<Order, Answer> Orders<Order, Answer> {
    /// Does each, until there are no more.
    pub fn each(self, mut work: impl FnMut(Order) -> Answer) {
        for order in self.orders {
            if self.answers.send(work(order)).is_err() {
                return;
            }
        }
    }
}

impl<'s, Order: Send + 's, Answer: Send + 's, End: Send + 's> Side<'s, Order, Answer, End> {
    /// Begins to start it; `run` runs the instance and does the orders.
    pub fn start(
        scope: &'s Scope<'s, '_>,
        run: impl FnOnce(Orders<Order, Answer>) -> Result<End> + Send + 's,
    ) -> Side<'s, Order, Answer, End> {
        let ((orders, ordered), (told, answers)) = (mpsc::channel(), mpsc::channel());
        let thread = scope.spawn(move || run(Orders { orders: ordered, answers: told }));
        Side { orders, answers, thread }
    }

    /// What comes of an order; none: it has ended, and why is known at its end.
    pub fn ask(&self, order: Order) -> Option<Answer> {
        self.orders.send(order).ok()?;
        self.answers.recv().ok()
    }

    /// Ends it.
    ///
    /// # Errors
    /// Why it ended before, or did not start.
    pub fn end(self) -> Result<End> {
        let Side { orders, answers, thread } = self;
        drop((orders, answers));
        thread.join().map_err(|_| anyhow!("it was not ended"))?
    }
}
