//! Parts of a graph that many graphs share until one of them changes its own.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value that is cheap to clone: clones share it, and the first change of one makes a copy for that one.
#[derive(Debug, Default)]
pub struct CopyOnWrite<T>(Arc<T>);

impl<T> Clone for CopyOnWrite<T> {
    fn clone(&self) -> CopyOnWrite<T> {
        CopyOnWrite(self.0.clone())
    }
}

impl<T> CopyOnWrite<T> {
    /// Tells whether two are still one and the same.
    pub fn is_shared_with(&self, other: &CopyOnWrite<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> From<T> for CopyOnWrite<T> {
    fn from(value: T) -> CopyOnWrite<T> {
        CopyOnWrite(Arc::new(value))
    }
}

impl<T> Deref for CopyOnWrite<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for CopyOnWrite<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a, T> IntoIterator for &'a CopyOnWrite<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut CopyOnWrite<Vec<T>> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::make_mut(&mut self.0).iter_mut()
    }
}

impl<T> FromIterator<T> for CopyOnWrite<Vec<T>> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> CopyOnWrite<Vec<T>> {
        CopyOnWrite::from(Vec::from_iter(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_one_leaves_the_others() {
        let first: CopyOnWrite<Vec<u8>> = [1, 2].into_iter().collect();
        let mut second = first.clone();
        assert!(second.is_shared_with(&first));
        second.push(3);
        assert!(!second.is_shared_with(&first));
        assert_eq!((first.len(), second.len()), (2, 3));
    }
}
