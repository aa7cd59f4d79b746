# SkipSummary.pm - what `prove --harness SkipSummary` adds to the summary: how many tests were skipped, by reason.
#
# A machine without a terminal, a browser or CUDA skips what needs one, and prove alone does not say why.  Perl finds
# this file by PERL5LIB; prove's own -I is for the tests.
package SkipSummary;
use strict;
use warnings;
use parent 'TAP::Harness';

# Count each skipped test, and each file that was skipped as a whole.
sub make_parser {
	my ($self, $job) = @_;
	my ($parser, $session) = $self->SUPER::make_parser($job);

	$parser->callback(test => sub { $self->_count('test', $_[0]) if $_[0]->has_skip });
	$parser->callback(plan => sub { $self->_count('file', $_[0]) if $_[0]->has_skip });
	return ($parser, $session);
}

sub _count {
	my ($self, $kind, $result) = @_;
	my $reason = $result->explanation // '';

	$reason =~ s/^\s+|\s+$//g;
	$self->{skipped}{$reason || 'no reason given'}{$kind}++;
}

sub _number {
	my ($count, $what) = @_;

	return $count ? ("$count $what" . ($count == 1 ? '' : 's')) : ();
}

# Print the reasons before prove's own summary, which stays last; most skipped tests first, files after tests.
sub summary {
	my ($self, @arguments) = @_;
	my $skipped = $self->{skipped} // {};
	my @rows;

	for my $reason (sort keys %$skipped) {
		my ($tests, $files) = map { $skipped->{$reason}{$_} // 0 } qw(test file);
		push @rows, [$tests, $files, join(', ', _number($tests, 'test'), _number($files, 'file')), $reason];
	}
	if (@rows) {
		@rows = sort { $b->[0] <=> $a->[0] || $b->[1] <=> $a->[1] } @rows;
		my ($width) = sort { $b <=> $a } map { length $_->[2] } @rows;
		print "Skipped:\n";
		printf "  %-*s  %s\n", $width, @$_[2, 3] for @rows;
	}
	return $self->SUPER::summary(@arguments);
}

1;
