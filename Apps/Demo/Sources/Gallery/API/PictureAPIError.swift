/// The reason why a request to the API failed.
enum PictureAPIError: Error, Equatable {
    /// The API did not respond within the time limit.
    case unreachable
    /// The API does not accept the session.
    case signedOut
    /// The API responded, but not as agreed. The text is for the log.
    case unexpected(String)
}
