"""What those who run a server ask it: does it live, can it serve, how much does it do."""
