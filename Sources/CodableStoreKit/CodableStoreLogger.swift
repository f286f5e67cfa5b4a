import Logging

/// The logger of this module: what cannot be thrown is told here.
let codableStoreLogger = Logger(label: "emporium.codablestorekit")
