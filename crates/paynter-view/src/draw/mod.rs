//! Draw
mod diagram;
mod font;
mod geometry;
mod layout;
