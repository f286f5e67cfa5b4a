/// Why the API did not give what it was asked for.
enum PictureAPIError: Error, Equatable {
    /// It does not answer, or not in time.
    case unreachable
    /// It does not know our session, any more or at all.
    case signedOut
    /// It answers, but with something that is of no use. The text is for the log.
    case unexpected(String)
}
