extension Console {
    /// Whether the user can be asked.
    var canAsk: Bool { isInputTerminal && isErrorTerminal }

    /// Asks on the terminal.
    ///
    /// - Returns: Whether the answer is yes.
    func isConfirmed(_ question: String) throws -> Bool {
        try errors.write("\(question) [y/N] ")
        return ["y", "yes"].contains(try readAnswer().lowercased())
    }

    /// Reads a line from the terminal, without its end.
    private func readAnswer() throws -> String {
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while try withUnsafeMutableBytes(of: &byte, { try input.read(into: $0) }) == 1, byte != UInt8(ascii: "\n") {
            answer.append(byte)
        }
        return String(decoding: answer, as: UTF8.self).filter { !$0.isWhitespace }
    }
}
