import Logging

/// The logger of this module, for errors that cannot be thrown.
let boutiqueLogger = Logger(label: "emporium.boutique")
