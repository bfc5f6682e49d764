mod flow;
mod orthogonal;
mod planar;
