#if Server
/// Whether a host, with or without a port, is this machine.
func isThisMachine(_ authority: String?) -> Bool {
    guard let authority = authority?.lowercased() else { return false }
    return ["127.0.0.1", "localhost", "[::1]", "::1"].contains { host in
        guard authority.hasPrefix(host) else { return false }
        let rest = authority.dropFirst(host.count)
        return rest.isEmpty || rest.first == ":" && rest.dropFirst().utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}
#endif
