struct Report { let profiles: [Profile]; var html: String { "" } }
