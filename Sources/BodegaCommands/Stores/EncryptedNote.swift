extension Console {
    /// Notes that a command has used encrypted items as they are stored, because no keyset was given.
    ///
    /// - Parameter verb: The participle for what the command did, such as "printed".
    func noteEncrypted(_ count: Int, _ verb: String) {
        if count == 0 { return }
        complain(
            """
            note: \(Counted.text(count, "item that seems", "items that seem")) to be encrypted \
            \(count == 1 ? "was" : "were") \(verb) as stored. Give --keyset to decrypt \(count == 1 ? "it" : "them").
            """)
    }
}
