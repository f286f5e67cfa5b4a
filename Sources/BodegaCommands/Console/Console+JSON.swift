import RecordCoder

extension Console {
    /// Prints a JSON object on a line.
    func print(_ members: JSONObjectWriter.Members) throws {
        try JSONObjectWriter.line(members).withUnsafeBytes(output.write)
    }

    /// Prints the number of items.
    func print(count: Int, asJSON isJSON: Bool) throws {
        if isJSON { try print(["count": count]) } else { try output.write("\(count)\n") }
    }
}
