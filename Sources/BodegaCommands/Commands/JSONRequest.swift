#if CommandLineTool
/// A call of the tool whose output is JSON.
enum JSONRequest {
    /// Whether all output of a call is JSON.
    static func isMade(by arguments: [String]) -> Bool {
        // The arguments after -- are no options.
        arguments.first == "export" || arguments.prefix { $0 != "--" }.contains("--json")
    }
}
#endif
