extension String {
    /// The text with a period at its end, after which another sentence can follow. Messages may end with an address.
    var sentence: String { hasSuffix(".") ? self : self + "." }
}
